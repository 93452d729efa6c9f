// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafted_shape.hpp"

#include "kernel/expression_node.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;
using P = Polynomial;

P polynomial_of_node(const Node::Pointer& node) {
  const auto opaque = [&] { return P::atom(fmt::format("({})", Expression(node).text())); };
  switch (node->kind) {
    case Node::Kind::integer: return P::constant(node->integer);
    case Node::Kind::name: return P::atom(node->text);
    case Node::Kind::binary: {
      const P a = polynomial_of_node(node->children[0]), b = polynomial_of_node(node->children[1]);
      if (node->text == "+") return a + b;
      if (node->text == "-") return a - b;
      if (node->text == "*") return a * b;
      if (node->text == "/")
        if (const auto exact = a.divided_by(b)) return *exact;
      return opaque();
    }
    case Node::Kind::call: return P::atom(Expression(node).text());
    default: return opaque();
  }
}

std::size_t degree(const P& p) {
  std::size_t most = 0;
  for (const auto& [monomial, coefficient] : p.terms()) most = std::max(most, monomial.size());
  return most;
}

std::string lower(const std::string& text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return name.find(part) != std::string::npos; });
}

bool is(const std::string& name, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return name == word; });
}

}  // namespace

Polynomial polynomial_of(const Expression& expression) {
  if (expression.empty()) return {};
  return polynomial_of_node(Node::Pointer(Node::Pointer(), expression.root()));
}

std::optional<std::string> shape_of(const SeenElements& seen) {
  std::vector<P> largest;
  for (const P& extent : seen.extents) {
    if (extent.terms().empty()) continue;
    bool below = false;
    for (const P& other : seen.extents) below |= other != extent && (other - extent).never_negative();
    if (!below && std::find(largest.begin(), largest.end(), extent) == largest.end()) largest.push_back(extent);
  }
  // Of a grid that nobody knows the extent is not known either.
  if (largest.empty() || std::any_of(largest.begin(), largest.end(), [](const P& extent) { return extent.text().find("@grid.") != std::string::npos; })) return std::nullopt;
  if (largest.size() > 1) {
    if (largest.size() > 4) return std::nullopt;
    std::vector<std::string> texts;
    for (const P& extent : largest) texts.push_back(extent.text());
    return fmt::format("[max({})]", fmt::join(texts, ", "));
  }
  const P whole = largest.front();
  std::vector<P> strides = seen.strides;
  std::sort(strides.begin(), strides.end(), [](const P& a, const P& b) {
    if (degree(a) != degree(b)) return degree(a) > degree(b);
    return a.terms().size() == 1 && b.terms().size() == 1 && a.terms().begin()->second > b.terms().begin()->second;
  });
  std::vector<std::string> parts;
  P rest = whole;
  const P one = P::constant(1);
  for (const P& stride : strides) {
    if (stride == one || stride == rest) continue;
    const auto outer = rest.divided_by(stride);
    if (!outer || *outer == one || outer->terms().size() != 1) continue;
    parts.push_back(outer->text());
    rest = stride;
  }
  parts.push_back(rest.text());
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string in_rows(const std::string& shape, const SeenElements& seen, const std::map<std::string, Expression>& sizes) {
  const auto count = Expression::parse(shape.substr(1, shape.size() - 2));
  if (!count) return shape;   // has several extents already
  SeenElements whole{{polynomial_of(*count)}, {}, false};
  if (whole.extents.front().terms().size() != 1) return shape;
  const auto plain = [](const P& p) { return p.text().find_first_of("@()") == std::string::npos; };
  std::copy_if(seen.strides.begin(), seen.strides.end(), std::back_inserter(whole.strides), [&](const P& stride) { return degree(stride) > 0 && plain(stride); });
  for (const auto& [name, value] : sizes) {
    if (value.empty()) continue;
    const auto number = value.evaluate_integer({});
    const bool step = number && *number > 1 && std::find(seen.strides.begin(), seen.strides.end(), P::constant(*number)) != seen.strides.end();
    if (step) whole.strides.push_back(P::atom(name));
  }
  const auto rows = plain(whole.extents.front()) ? shape_of(whole) : std::nullopt;
  return rows && rows->find(',') != std::string::npos ? *rows : shape;
}

void tie_indices(const SeenElements& seen, std::map<std::string, Polynomial>& known) {
  for (const P& extent : seen.extents)
    for (const auto& [monomial, coefficient] : extent.terms()) {
      const auto atom = std::find_if(monomial.begin(), monomial.end(), [](const std::string& name) { return name[0] == '@'; });
      if (atom == monomial.end() || known.contains(*atom)) continue;
      P factor = P::constant(coefficient);
      for (const std::string& name : monomial)
        if (name != *atom) factor = factor * P::atom(name);
      const P rest = extent - factor * P::atom(*atom);
      for (const P& other : seen.extents) {
        const bool plain = std::none_of(other.terms().begin(), other.terms().end(), [](const auto& term) {
          return std::any_of(term.first.begin(), term.first.end(), [](const std::string& name) { return name[0] == '@'; });
        });
        if (!plain) continue;
        if (const auto value = (other - rest).divided_by(factor); value && value->never_negative() && !value->terms().empty()) {
          known[*atom] = *value;
          break;
        }
      }
      if (known.contains(*atom)) continue;
      // An index beside a row that is counted in steps of n is one within the row.
      std::optional<P> row;
      for (const P& stride : seen.strides) {
        const auto value = stride.divided_by(factor);
        const bool rows = value && *value != P::constant(1) && value->terms().size() == 1;
        if (rows && (!row || degree(*value) < degree(*row))) row = value;
      }
      if (row) known[*atom] = *row;
    }
}

std::int64_t guessed_size(const std::string& name, int factors) {
  const std::string word = lower(name);
  if (has(word, {"stride", "dilation", "group", "step"})) return 1;
  if (has(word, {"padding"}) || is(word, {"pad", "pad_h", "pad_w", "p", "padh", "padw"})) return 1;
  if (has(word, {"kernel", "ksize", "filter", "mask_w", "window"}) || is(word, {"k_size", "kh", "kw", "k_h", "k_w", "mask_size"})) return 3;
  if (has(word, {"radius", "halo"})) return 2;
  if (word.starts_with("k_")) return 3;
  if (has(word, {"thread"})) return 256;
  if (has(word, {"mem"})) return 4096;
  if (has(word, {"batch", "heads", "num_head"}) || is(word, {"b", "bs", "nb", "nh"})) return 4;
  if (has(word, {"channel", "nsample", "group_size", "bins", "class", "neighbo"}) || is(word, {"c", "ch", "cin", "cout", "nclasses"})) return 32;
  if (has(word, {"range"})) return 256;
  if (has(word, {"blocks"})) return 64;
  if (is(word, {"offset", "start", "begin", "first", "seed", "flag", "axis", "iter", "iteration", "shift"})) return 0;
  if (has(word, {"incx", "incy", "inc_", "offx", "offy"})) return word.find("off") != std::string::npos ? 0 : 1;
  if (factors <= 1) return 1 << 14;
  if (factors == 2) return 256;
  return factors == 3 ? 64 : 16;
}

std::string guessed_real(const std::string& name) {
  const std::string word = lower(name);
  if (has(word, {"eps"})) return "1e-5";
  if (has(word, {"radius"})) return "0.5";
  if (has(word, {"slope", "negative", "leak"})) return "0.01";
  if (is(word, {"lr", "rate", "learning_rate", "weight_decay", "wd"})) return "0.001";
  if (has(word, {"beta1", "momentum"})) return "0.9";
  if (has(word, {"beta2"})) return "0.999";
  if (has(word, {"theta"})) return "10000";
  if (has(word, {"prob", "thresh", "ratio"}) || is(word, {"p"})) return "0.5";
  if (is(word, {"lo", "low", "min", "minimum"}) || has(word, {"min_", "_min"})) return "-1";
  if (is(word, {"beta", "alpha", "scale", "a", "b", "s"}) || has(word, {"scale"})) return "0.5";
  return "1.0";
}

}  // namespace cudal1::kernel
