// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace cudal1::algebra {

bool Permute::swaps_last() const {
  const auto rank = static_cast<int>(dims.size());
  if (rank < 2) return false;
  for (int i = 0; i < rank; ++i)
    if (dims[static_cast<std::size_t>(i)] != (i == rank - 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i)) return false;
  return true;
}

bool Node::computes(std::string_view function) const { return is<Pointwise>() && as<Pointwise>().function == function; }

bool Node::reduces(std::string_view function) const { return is<Reduce>() && as<Reduce>().function == function; }

const std::string& Node::function() const {
  static const std::string none;
  if (is<Pointwise>()) return as<Pointwise>().function;
  if (is<Reduce>()) return as<Reduce>().function;
  return is<Scan>() ? as<Scan>().function : none;
}

const std::vector<Window>& Node::windows() const {
  static const std::vector<Window> none;
  if (is<Convolution>()) return as<Convolution>().windows;
  if (is<Pool>()) return as<Pool>().windows;
  return is<WindowSums>() ? as<WindowSums>().windows : none;
}

bool Node::transposed() const {
  return (is<Convolution>() && as<Convolution>().transposed) || (is<WindowSums>() && as<WindowSums>().transposed);
}

std::string describe(const Node& node) {
  constexpr const char* kinds[] = {"an input", "a number", "a coordinate", "", "", "a view", "a view", "a matrix product", "attention", "a convolution",
                                   "a pool", "", "a slice", "cat", "gather", "sums of windows"};
  static_assert(std::size(kinds) == std::variant_size_v<Operation>);
  return node.function().empty() ? kinds[node.operation.index()] : node.function();
}

int Dag::add(Node node) {
  const auto equal = std::find(nodes.begin(), nodes.end(), node);
  if (equal != nodes.end()) return static_cast<int>(equal - nodes.begin());
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

tensor::Shape broadcast(const Dag& dag, const std::vector<int>& operands, std::size_t assignments) {
  std::size_t rank = 0;
  for (int operand : operands) rank = std::max(rank, dag.at(operand).shape.size());
  tensor::Shape result(rank, literal(1, assignments));
  for (int operand : operands) {
    const tensor::Shape& shape = dag.at(operand).shape;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!is_one(shape[i])) result[i + rank - shape.size()] = shape[i];
  }
  return result;
}

Batches batches_of(const tensor::Shape& product, const tensor::Shape& factor) {
  bool any = false, all = true;
  for (std::size_t i = 0; i + 2 < product.size(); ++i) {
    if (is_one(product[i])) continue;
    const bool has = i + factor.size() >= product.size() && !is_one(factor[i + factor.size() - product.size()]);
    any = any || has;
    all = all && has;
  }
  return !any ? Batches::none : all ? Batches::all : Batches::some;
}

tensor::Extent literal(std::int64_t value, std::size_t assignments) {
  return {std::to_string(value), std::vector<std::int64_t>(assignments, value)};
}

bool is_zero(const tensor::Extent& extent) {
  return std::all_of(extent.values.begin(), extent.values.end(), [](std::int64_t value) { return value == 0; });
}

std::string in_parentheses(const std::string& text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
  return plain ? text : "(" + text + ")";
}

template <typename Operation>
static tensor::Extent combined(const tensor::Extent& a, char sign, const tensor::Extent& b, Operation operation) {
  tensor::Extent result{fmt::format("{} {} {}", in_parentheses(a.text), sign, in_parentheses(b.text)), a.values};
  std::transform(a.values.begin(), a.values.end(), b.values.begin(), result.values.begin(), operation);
  return result;
}

tensor::Extent times(const tensor::Extent& a, const tensor::Extent& b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  return combined(a, '*', b, std::multiplies<>());
}

tensor::Extent plus(const tensor::Extent& a, const tensor::Extent& b) { return combined(a, '+', b, std::plus<>()); }

tensor::Extent product_of(const tensor::Shape& shape, std::size_t first, std::size_t last, std::size_t assignments) {
  tensor::Extent result = literal(1, assignments);
  for (std::size_t i = first; i < last; ++i) result = times(result, shape[i]);
  return result;
}

tensor::Extent ceil_div(const tensor::Extent& extent, std::int64_t by) {
  return changed(extent, fmt::format("ceil_div({}, {})", extent.text, by), [&](std::int64_t value) { return ceil_div(value, by); });
}

tensor::Extent round_up(const tensor::Extent& extent, std::int64_t to) {
  return changed(extent, fmt::format("ceil_div({0}, {1}) * {1}", extent.text, to), [&](std::int64_t value) { return round_up(value, to); });
}

tensor::Extent divided(const tensor::Extent& extent, std::int64_t by) {
  if (by == 1) return extent;
  return changed(extent, fmt::format("{} / {}", in_parentheses(extent.text), by), [&](std::int64_t value) { return value / by; });
}

std::int64_t largest(const tensor::Extent& extent, std::size_t assignments) {
  const std::size_t count = std::min(assignments, extent.values.size());
  return *std::max_element(extent.values.begin(), extent.values.begin() + static_cast<std::ptrdiff_t>(count));
}

double volume(const tensor::Shape& shape) {
  double result = 1;
  for (const tensor::Extent& extent : shape) result *= static_cast<double>(extent.values[0]);
  return result;
}

std::int64_t smallest(const tensor::Extent& extent, std::size_t assignments) {
  const std::size_t count = std::min(assignments, extent.values.size());
  return *std::min_element(extent.values.begin(), extent.values.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace cudal1::algebra
