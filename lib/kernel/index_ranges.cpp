// SPDX-License-Identifier: Apache-2.0
#include "kernel/index_ranges.hpp"

#include "kernel/expression.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;
using Tokens = std::vector<SourceToken>;
using P = Polynomial;

constexpr int depth_limit = 16;
constexpr int work_limit = 60'000;

// A name that stands for a value within the kernel.
struct Variable {
  enum class Kind { unknown, defined, quotient, remainder, least, loaded } kind = Kind::unknown;
  P a, b;                        // defined: a; quotient, remainder, least: of a and b
  std::optional<P> high, low;    // inclusive, as guards say
  std::optional<P> start;        // of a loop's variable
  std::string buffer;            // loaded from
};

struct Value {
  enum class Kind { number, pointer, other } kind = Kind::other;
  P number;                      // pointer: the offset in elements
  std::string buffer;
  std::int64_t width = 1;        // elements that one access through the pointer touches
};

Value number(P p) { return {Value::Kind::number, std::move(p), {}, 1}; }

class Reader {
 public:
  Reader(std::string_view source, std::string_view kernel, const std::map<std::string, P>& constants, const std::optional<KnownLaunch>& launch,
         const std::optional<std::array<std::int64_t, 3>>& given_block)
      : source_(source), tokens_(lex_code(source)), constants_(constants), launch_(launch), given_block_(given_block) {
    const std::size_t colon = kernel.rfind("::");
    find_function(colon == std::string_view::npos ? kernel : kernel.substr(colon + 2), true);
  }

  KernelFacts run() {
    if (!kernel_) return std::move(facts_);
    choose_block();
    for (const auto& [name, value] : constants_) scope_[name] = number(value);
    bind_parameters();
    at_ = kernel_->body_from;
    block(kernel_->body_to);
    for (int d = 0; d < 3; ++d)
      if (const auto& wanted = grid_[static_cast<std::size_t>(d)]) facts_.grid[static_cast<std::size_t>(d)] = wanted;
    for (const std::string& name : indices_) facts_.pointers[name].index = true;
    return std::move(facts_);
  }

 private:
  struct Function {
    std::vector<std::pair<std::string, bool>> parameters;  // name, and whether it is a pointer
    std::set<std::string> halves;  // pointers to elements of 16 bits
    std::size_t body_from = 0, body_to = 0;
  };

  const SourceToken& token(std::size_t i) const {
    static const SourceToken none;
    return i < tokens_.size() ? tokens_[i] : none;
  }

  std::optional<Function> function_at(std::size_t i) const {
    if (!token(i + 1).is("(")) return std::nullopt;
    const std::size_t close = matching_bracket(tokens_, i + 1);
    if (close >= tokens_.size() || !token(close + 1).is("{")) return std::nullopt;
    Function function;
    function.body_from = close + 2;
    function.body_to = std::min(matching_bracket(tokens_, close + 1), tokens_.size());
    std::string name;
    bool pointer = false, fallback = false, half = false;
    int depth = 0;
    for (std::size_t k = i + 2; k <= close; ++k) {
      if (token(k).is("<")) ++depth;
      if (token(k).is(">")) --depth;
      if (k == close || (token(k).is(",") && depth <= 0)) {
        if (!name.empty()) function.parameters.emplace_back(name, pointer);
        if (half && pointer) function.halves.insert(name);
        name.clear();
        pointer = fallback = half = false;
        continue;
      }
      if (token(k).is("=")) fallback = true;
      if (fallback) continue;
      if (token(k).is("*") || token(k).is("[")) pointer = true;
      half |= token(k).is("half") || token(k).is("__half") || token(k).is("nv_bfloat16") || token(k).is("__nv_bfloat16");
      if (token(k).kind == Kind::identifier) name = std::string(token(k).text);
    }
    return function;
  }

  void find_function(std::string_view name, bool global) {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is(name)) continue;
      auto function = function_at(i);
      if (!function) continue;
      bool is_global = false;
      for (std::size_t k = i; k-- > 0 && i - k < 40 && !tokens_[k].is(";") && !tokens_[k].is("}");) is_global |= tokens_[k].is("__global__");
      if (is_global != global) continue;
      kernel_ = *function;
      return;
    }
  }

  // ---- threads and blocks

  bool used(std::string_view name, std::string_view axis) const {
    for (std::size_t i = kernel_->body_from; i + 2 < kernel_->body_to; ++i)
      if (tokens_[i].is(name) && tokens_[i + 1].is(".") && tokens_[i + 2].is(axis)) return true;
    return false;
  }

  // Of a kernel that nothing launches: as many dimensions as it asks for, and as many threads as its shared arrays hold.
  void choose_block() {
    if (launch_) return;
    const bool y = used("threadIdx", "y") || used("blockDim", "y"), z = used("threadIdx", "z") || used("blockDim", "z");
    const bool x = used("threadIdx", "x") || used("blockDim", "x");
    facts_.dimensions = z ? 3 : y ? 2 : 1;
    if (z) facts_.block = {8, 8, 4};
    else if (y) facts_.block = {16, 16, 1};
    else facts_.block = {x ? 256 : 1, 1, 1};
    if (given_block_) {
      facts_.block = *given_block_;
      return;
    }
    std::vector<std::int64_t> extents;
    for (std::size_t i = kernel_->body_from; i < kernel_->body_to; ++i) {
      if (!tokens_[i].is("__shared__")) continue;
      std::size_t k = i;
      while (k < kernel_->body_to && !tokens_[k].is("[") && !tokens_[k].is(";")) ++k;
      std::vector<std::int64_t> here;
      for (; token(k).is("["); k = matching_bracket(tokens_, k) + 1) {
        const auto value = literal(k + 1, matching_bracket(tokens_, k));
        here.push_back(value.value_or(0));
      }
      if (extents.empty()) extents = here;
    }
    const auto plain = [](std::int64_t n) { return n >= 4 && n <= 1024; };
    if (facts_.dimensions == 2 && extents.size() == 2 && plain(extents[0]) && extents[0] <= 32) {
      facts_.block = {extents[0], extents[0], 1};
    } else if (facts_.dimensions == 1 && x && extents.size() == 1 && plain(extents[0]) && extents[0] % 32 == 0) {
      facts_.block = {extents[0], 1, 1};
    }
    for (std::size_t i = 0; i + 2 < kernel_->body_from; ++i)  // __launch_bounds__ right in front of it
      if (tokens_[i].is("__launch_bounds__") && kernel_->body_from - i < 200 && facts_.dimensions == 1)
        if (const auto most = literal(i + 2, std::min(matching_bracket(tokens_, i + 1), i + 3)); most && *most > 0) facts_.block[0] = std::min(facts_.block[0], *most);
  }

  std::optional<std::int64_t> literal(std::size_t from, std::size_t to) const {
    const auto expression = Expression::parse(source_text(source_, tokens_, from, to));
    if (!expression) return std::nullopt;
    Environment values;
    for (const std::string& name : expression->names()) {
      const auto known = constants_.find(name);
      const auto value = known == constants_.end() ? global_constant(name) : known->second.value();
      if (!value) return std::nullopt;
      values[name] = *value;
    }
    const auto value = expression->evaluate_integer(values);
    return value ? std::optional<std::int64_t>(*value) : std::nullopt;
  }

  // `constexpr int TILE = 16;` at namespace scope or within the kernel.
  std::optional<std::int64_t> global_constant(std::string_view name) const {
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (!tokens_[i].is(name) || !tokens_[i + 1].is("=") || tokens_[i - 1].kind != Kind::identifier) continue;
      std::size_t begin = i;
      while (begin > 0 && tokens_[begin - 1].kind == Kind::identifier) --begin;
      bool constant = false;
      for (std::size_t k = begin; k < i; ++k) constant |= tokens_[k].is("const") || tokens_[k].is("constexpr");
      std::size_t to = i + 2;
      while (to < tokens_.size() && !tokens_[to].is(";") && !tokens_[to].is(",")) ++to;
      if (!constant) continue;
      const auto expression = Expression::parse(source_text(source_, tokens_, i + 2, to));
      if (!expression || !expression->names().empty()) continue;
      const auto value = expression->evaluate_integer({});
      if (value) return *value;
    }
    return std::nullopt;
  }

  P thread_extent(std::string_view what, std::size_t axis) {
    const bool block = what == "blockDim";
    if (launch_) return block ? launch_->block[axis] : launch_->grid[axis];
    if (block) return P::constant(facts_.block[axis]);
    return P::atom(fmt::format("@grid.{}", "xyz"[axis]));
  }

  Value thread_value(const std::string& what, const std::string& axis_name) {
    const auto axis = static_cast<std::size_t>(axis_name[0] - 'x');
    if (axis > 2) return {};
    if (what == "blockDim" || what == "gridDim") return number(thread_extent(what, axis));
    const std::string name = what + "." + axis_name;
    if (!variables_.contains(name)) {
      Variable variable;
      variable.high = thread_extent(what == "threadIdx" ? "blockDim" : "gridDim", axis) - P::constant(1);
      variable.low = P();
      variables_[name] = variable;
    }
    return number(P::atom(name));
  }

  // ---- ranges

  std::string fresh(Variable variable, std::string_view like = "") {
    std::string name = fmt::format("${}{}", like, next_++);
    variables_[name] = std::move(variable);
    return name;
  }

  P unknown() { return P::atom(fresh({})); }

  static bool is_size(const std::string& atom) { return atom[0] != '$' && atom.find("Idx.") == std::string::npos; }

  std::optional<P> bound(const P& p, bool upper, int depth = 0) {
    if (depth > depth_limit || ++work_ > work_limit) return std::nullopt;
    // What guards say of sums: `row + i < N` with row and i each up to N.
    if (upper && depth < 4)
      for (const auto& [sum, limit] : sums_)
        if (const auto rest = without_sum(p, sum, limit)) return bound(*rest, true, depth + 1);
    P result;
    for (const auto& [monomial, coefficient] : p.terms()) {
      P product = P::constant(coefficient);
      for (const std::string& atom : monomial) {
        if (is_size(atom)) {
          product = product * P::atom(atom);
          continue;
        }
        const auto of = atom_bound(atom, upper == (coefficient > 0), depth + 1);
        if (!of) return std::nullopt;
        product = product * *of;
      }
      result = result + product;
    }
    return result;
  }

  // p with its part k * sum replaced by k * limit; empty where p has no such part.
  std::optional<P> without_sum(const P& p, const P& sum, const P& limit) const {
    const P first = P::constant(sum.terms().begin()->second) * product_of(sum.terms().begin()->first);
    for (const auto& [monomial, coefficient] : p.terms()) {
      const auto factor = (P::constant(coefficient) * product_of(monomial)).divided_by(first);
      if (!factor || !factor->never_negative()) continue;
      bool sizes = true;
      for (const auto& [atoms, times] : factor->terms())
        for (const std::string& atom : atoms) sizes &= is_size(atom);
      if (!sizes) continue;
      const P part = *factor * sum;
      const bool whole = std::all_of(part.terms().begin(), part.terms().end(), [&](const auto& term) {
        const auto found = p.terms().find(term.first);
        return found != p.terms().end() && found->second == term.second;
      });
      if (whole) return p - part + *factor * limit;
    }
    return std::nullopt;
  }

  static P product_of(const std::vector<std::string>& atoms) {
    P product = P::constant(1);
    for (const std::string& atom : atoms) product = product * P::atom(atom);
    return product;
  }

  std::optional<P> atom_bound(const std::string& atom, bool upper, int depth) {
    const auto found = variables_.find(atom);
    if (found == variables_.end() || depth > depth_limit) return std::nullopt;
    const Variable& v = found->second;
    if (upper && v.high) return v.high;
    if (!upper && v.low) return v.low;
    switch (v.kind) {
      case Variable::Kind::defined: {
        auto of = bound(v.a, upper, depth + 1);
        return !of && !upper ? std::optional(P()) : of;
      }
      case Variable::Kind::quotient: {
        if (!upper) return P();
        const auto a = bound(v.a, true, depth + 1), b = bound(v.b, true, depth + 1);
        if (!a || !b) return std::nullopt;
        if (const auto exact = (*a + P::constant(1)).divided_by(*b)) return *exact - P::constant(1);
        if (a->value() && b->value() && *b->value() != 0) return P::constant(*a->value() / *b->value());
        return P::atom(fmt::format("(({}) / ({}))", a->text(), b->text()));
      }
      case Variable::Kind::remainder: {
        if (!upper) return P();
        const auto b = bound(v.b, true, depth + 1);
        return b ? std::optional(*b - P::constant(1)) : std::nullopt;
      }
      case Variable::Kind::least: {
        const auto a = bound(v.a, upper, depth + 1), b = bound(v.b, upper, depth + 1);
        if (!upper) return P();
        if (!a || !b) return a ? a : b;
        return (*b - *a).never_negative() ? a : b;
      }
      case Variable::Kind::loaded:
        if (!upper) return P();
        indices_.insert(v.buffer);
        return P::atom("@" + v.buffer) - P::constant(1);
      case Variable::Kind::unknown: break;
    }
    return upper ? std::nullopt : std::optional(P());
  }

  // Every definition put in, down to threads, sizes and what is not known.
  P expanded(const P& p, int depth = 0) {
    P result;
    for (const auto& [monomial, coefficient] : p.terms()) {
      P product = P::constant(coefficient);
      for (const std::string& atom : monomial) {
        const auto found = variables_.find(atom);
        const bool more = found != variables_.end() && depth < depth_limit && (found->second.kind == Variable::Kind::defined || found->second.start);
        product = product * (more ? expanded(found->second.start ? *found->second.start : found->second.a, depth + 1) : P::atom(atom));
      }
      result = result + product;
    }
    return result;
  }

  bool depends_on_data(const P& p, int depth = 0) {
    if (depth > depth_limit) return true;
    for (const auto& [monomial, coefficient] : p.terms())
      for (const std::string& atom : monomial) {
        const auto found = variables_.find(atom);
        if (found == variables_.end()) continue;
        const Variable& v = found->second;
        if (v.kind == Variable::Kind::loaded || (v.kind == Variable::Kind::unknown && !v.high && !v.start)) return true;
        if (v.kind == Variable::Kind::defined && depends_on_data(v.a, depth + 1)) return true;
        if (v.kind == Variable::Kind::quotient || v.kind == Variable::Kind::remainder || v.kind == Variable::Kind::least)
          if (depends_on_data(v.a, depth + 1) || depends_on_data(v.b, depth + 1)) return true;
      }
    return false;
  }

  // ---- guards

  struct Comparison {
    Value left, right;
    std::string word;
  };

  // `left <= right` holds from here on.
  void at_most(const P& left, const P& right) {
    // What a block's index is held below is how many blocks there are.
    const P whole = expanded(left);
    if (const auto limit = bound(right, true); limit && !launch_ && counts_blocks_)
      for (std::size_t d = 0; d < 3; ++d) {
        const std::string atom = fmt::format("blockIdx.{}", "xyz"[d]);
        P by;
        bool plain = true;
        for (const auto& [monomial, coefficient] : whole.terms()) {
          const auto times = std::count(monomial.begin(), monomial.end(), atom);
          if (times == 0) continue;
          auto rest = monomial;
          rest.erase(std::find(rest.begin(), rest.end(), atom));
          plain &= times == 1 && coefficient > 0;
          P factor = P::constant(coefficient);
          for (const std::string& name : rest) {
            plain &= is_size(name);
            factor = factor * P::atom(name);
          }
          by = by + factor;
        }
        if (!plain || by.terms().empty() || grid_[d]) continue;
        // Blocks of a second axis go on where those of the first end: `blockIdx.x + blockIdx.y * gridDim.x`.
        if (by.text().find("@grid.") != std::string::npos) {
          grid_[d] = P::constant(1);
          continue;
        }
        const P extent = *limit + P::constant(1);
        if (by == P::constant(1)) grid_[d] = extent;
        else if (const auto whole_blocks = extent.divided_by(by); whole_blocks && extent.value()) grid_[d] = *whole_blocks;
        else grid_[d] = P::atom(fmt::format("ceil_div({}, {})", extent.text(), by.text()));
      }
    // Below the smaller of two is below both.
    if (right.terms().size() <= 2)
      for (const auto& [monomial, coefficient] : right.terms()) {
        const auto found = monomial.size() == 1 && coefficient == 1 ? variables_.find(monomial[0]) : variables_.end();
        const Variable* least = found == variables_.end() ? nullptr : &found->second;
        if (least != nullptr && least->kind == Variable::Kind::defined && least->a.terms().size() == 1 && least->a.terms().begin()->first.size() == 1)
          if (const auto behind = variables_.find(least->a.terms().begin()->first[0]); behind != variables_.end()) least = &behind->second;
        if (least == nullptr || least->kind != Variable::Kind::least || least_depth_ > 3) continue;
        ++least_depth_;
        const P rest = right - P::atom(monomial[0]), a = least->a, b = least->b;
        at_most(left, a + rest);
        at_most(left, b + rest);
        --least_depth_;
        return;
      }
    note_sum(left, right);
    // One name alone on the left: the rest goes to the right.
    for (const auto& [monomial, coefficient] : left.terms()) {
      if (monomial.size() != 1 || coefficient < 1) continue;
      const auto found = variables_.find(monomial[0]);
      if (found == variables_.end()) continue;
      P rest = left;
      rest = rest - P::constant(coefficient) * P::atom(monomial[0]);
      const auto high = bound(right - rest, true);
      if (!high) continue;
      std::optional<P> limit = coefficient == 1 ? high : std::nullopt;
      if (coefficient > 1) {
        // c * v <= E with E + 1 a multiple of c: v <= (E + 1) / c - 1
        if (const auto part = (*high + P::constant(1)).divided_by(P::constant(coefficient))) limit = *part - P::constant(1);
        else limit = P::atom(fmt::format("(({}) / {})", high->text(), coefficient));
      }
      auto& known = found->second.high;
      // A guard holds on top of what is known already; the tighter of two that can be compared.
      if (!known || !(*limit - *known).never_negative() || monomial[0][0] == '$') {
        if (known && (*limit - *known).never_negative() && *limit != *known) continue;
        note_change(monomial[0]);
        known = limit;
      }
    }
  }

  // `limit <= v` for one name alone: it is at least that.
  void at_least(const P& v, const P& limit) {
    if (v.terms().size() != 1 || v.terms().begin()->second != 1 || v.terms().begin()->first.size() != 1) return;
    const auto found = variables_.find(v.terms().begin()->first[0]);
    const auto low = bound(limit, false);
    if (found == variables_.end() || !low || !low->never_negative()) return;
    note_change(found->first);
    found->second.low = low;
  }

  void note_sum(const P& left, const P& right) {
    const P all = left - right;
    P sum, limit;
    int counted = 0;
    for (const auto& [monomial, coefficient] : all.terms()) {
      const bool size = std::all_of(monomial.begin(), monomial.end(), [](const std::string& atom) { return is_size(atom); });
      const P term = P::constant(coefficient) * product_of(monomial);
      if (size) limit = limit - term;
      else if (coefficient > 0) sum = sum + term, ++counted;
      else return;
    }
    if (counted > 1) sums_.emplace_back(sum, limit);
  }

  void note_change(const std::string& atom) {
    if (!undo_.empty()) undo_.back().emplace_back(atom, variables_[atom]);
  }

  void apply(const Comparison& c, bool holds) {
    if (c.left.kind != Value::Kind::number || c.right.kind != Value::Kind::number) return;
    std::string word = c.word;
    if (!holds) word = word == "<" ? ">=" : word == "<=" ? ">" : word == ">" ? "<=" : word == ">=" ? "<" : word == "==" ? "!=" : "==";
    const P one = P::constant(1);
    if (word == "<") at_most(c.left.number, c.right.number - one), at_least(c.right.number, c.left.number + one);
    else if (word == "<=") at_most(c.left.number, c.right.number), at_least(c.right.number, c.left.number);
    else if (word == ">") at_most(c.right.number, c.left.number - one), at_least(c.left.number, c.right.number + one);
    else if (word == ">=") at_most(c.right.number, c.left.number), at_least(c.left.number, c.right.number);
    else if (word == "==") {
      counts_blocks_ = false;  // `blockIdx.x == 0` speaks of one of them
      at_most(c.left.number, c.right.number);
      at_most(c.right.number, c.left.number);
      counts_blocks_ = true;
    }
  }

  // The comparisons of a condition that all hold when it does (`&&`), or that all fail when it fails (`||`).
  struct Condition {
    std::vector<Comparison> all;
    bool conjunction = true, disjunction = false;
    bool data = false;
  };

  Condition condition(std::size_t from, std::size_t to) {
    Condition result;
    while (from < to && token(from).is("(") && matching_bracket(tokens_, from) + 1 == to) {
      ++from;
      --to;
    }
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    std::size_t begin = from;
    bool ands = false, ors = false;
    for (std::size_t i = from; i < to; ++i) {
      if (token(i).is("(") || token(i).is("[") || token(i).is("{")) {
        i = matching_bracket(tokens_, i);
        continue;
      }
      if (!token(i).is("&&") && !token(i).is("||")) continue;
      (token(i).is("&&") ? ands : ors) = true;
      parts.emplace_back(begin, i);
      begin = i + 1;
    }
    parts.emplace_back(begin, to);
    result.conjunction = !ors;
    result.disjunction = !ands;
    for (auto [a, b] : parts) {
      if (token(a).is("(") && matching_bracket(tokens_, a) + 1 == b) {
        const Condition inner = condition(a, b);
        result.data |= inner.data;
        if (parts.size() == 1 || (inner.conjunction && result.conjunction) || (inner.disjunction && result.disjunction))
          result.all.insert(result.all.end(), inner.all.begin(), inner.all.end());
        if (inner.all.size() > 1) {
          result.conjunction &= inner.conjunction;
          result.disjunction &= inner.disjunction;
        }
        continue;
      }
      std::size_t split = b;
      for (std::size_t i = a; i < b; ++i) {
        if (token(i).is("(") || token(i).is("[") || token(i).is("{")) {
          i = matching_bracket(tokens_, i);
          continue;
        }
        const bool shift = (token(i).is("<") && (token(i + 1).is("<") || token(i - 1).is("<"))) || (token(i).is(">") && (token(i + 1).is(">") || token(i - 1).is(">")));
        if ((token(i).is("<") || token(i).is(">") || token(i).is("<=") || token(i).is(">=") || token(i).is("==") || token(i).is("!=")) && !shift) split = i;
      }
      if (split == b) {
        const Value value = expression(a, b);
        result.data |= value.kind != Value::Kind::number || depends_on_data(value.number);
        if (parts.size() == 1) result.conjunction = result.disjunction = true;
        continue;
      }
      Comparison comparison{expression(a, split), expression(split + 1, b), std::string(token(split).text)};
      for (const Value* side : {&comparison.left, &comparison.right}) result.data |= side->kind != Value::Kind::number || depends_on_data(side->number);
      note_offsets(comparison);
      result.all.push_back(std::move(comparison));
    }
    return result;
  }

  // `j < rows[i + 1]` of a loop that begins at `rows[i]`.
  void note_offsets(const Comparison& c) {
    if (c.right.kind != Value::Kind::number) return;
    const auto loaded = [&](const P& p) -> std::string {
      const P whole = p;
      for (const auto& [monomial, coefficient] : whole.terms())
        for (const std::string& atom : monomial) {
          auto name = atom;
          for (int hop = 0; hop < 4; ++hop) {
            const auto found = variables_.find(name);
            if (found == variables_.end()) break;
            if (found->second.kind == Variable::Kind::loaded) return found->second.buffer;
            const auto& next = found->second.start ? *found->second.start : found->second.a;
            if (next.terms().size() != 1 || next.terms().begin()->first.size() != 1) break;
            name = next.terms().begin()->first[0];
          }
        }
      return "";
    };
    const std::string right = loaded(c.right.number);
    if (right.empty() || c.left.kind != Value::Kind::number) return;
    if (loaded(c.left.number) == right) {
      facts_.pointers[right].offsets = true;
      indices_.insert(right);
    }
  }

  // ---- accesses

  void access(const Value& pointer, const P& index, bool writes, bool reads, bool atomic = false) {
    if (pointer.kind != Value::Kind::pointer || pointer.buffer.empty()) return;
    PointerFacts& facts = facts_.pointers[pointer.buffer];
    if (reads && !facts.written) facts.read_first = true;
    facts.read |= reads;
    facts.written |= writes;
    facts.atomic |= atomic;
    const P at = pointer.number + index * P::constant(pointer.width) + P::constant(pointer.width - 1);
    // What begins behind the first element leaves a border.
    const auto low = bound(at - P::constant(pointer.width - 1), false);
    const bool border = low && !low->terms().empty() && low->never_negative();
    if (writes && data_ == 0 && !border) facts.certain = true;
    const auto high = bound(at, true);
    if (!high) {
      facts.unknown = true;
      return;
    }
    const P extent = *high + P::constant(1);
    if (std::find(facts.extents.begin(), facts.extents.end(), extent) == facts.extents.end()) facts.extents.push_back(extent);
    note_strides(facts, at);
  }

  // The sizes that stand before what counts: `row * N + col` is counted in steps of N and 1.
  void note_strides(PointerFacts& facts, const P& at) {
    for (const auto& [monomial, coefficient] : at.terms()) {
      P stride = P::constant(std::abs(coefficient));
      bool counted = false;
      for (const std::string& atom : monomial) {
        if (is_size(atom)) stride = stride * P::atom(atom);
        else counted = true;
      }
      if (counted && std::find(facts.strides.begin(), facts.strides.end(), stride) == facts.strides.end()) facts.strides.push_back(stride);
      for (const std::string& atom : monomial)
        if (const auto found = variables_.find(atom); found != variables_.end() && found->second.kind == Variable::Kind::defined && stride == P::constant(1))
          note_strides(facts, found->second.a);
    }
  }

  P loaded_from(const Value& pointer) {
    Variable variable;
    variable.kind = Variable::Kind::loaded;
    variable.buffer = pointer.buffer;
    return P::atom(fresh(variable));
  }

  // ---- expressions

  Value expression(std::size_t from, std::size_t to) {
    const std::size_t saved_at = at_, saved_end = end_;
    at_ = from;
    end_ = to;
    Value value = assignment();
    while (at_ < end_ && token(at_).is(",")) {
      ++at_;
      value = assignment();
    }
    at_ = saved_at;
    end_ = saved_end;
    return value;
  }

  bool next(std::string_view word) const { return at_ < end_ && token(at_).is(word); }
  bool accept(std::string_view word) {
    if (!next(word)) return false;
    ++at_;
    return true;
  }

  struct Place {
    bool element = false;
    Value pointer;
    P index;
    std::string name;
  };

  Value assignment() {
    if (++work_ > work_limit) {
      at_ = end_;
      return {};
    }
    Place place;
    const std::size_t begin = at_;
    pending_read_.reset();
    Value value = conditional(&place);
    if (at_ >= end_) {
      flush_read();
      return value;
    }
    std::string word;
    std::size_t length = 1;
    for (const std::string_view two : {"+=", "-=", "*=", "/="})
      if (next(two)) word = two;
    if (next("=")) word = "=";
    for (const std::string_view one : {"%", "|", "&", "^"})
      if (next(one) && token(at_ + 1).is("=")) word = std::string(one) + "=", length = 2;
    if (next(">") && token(at_ + 1).is(">=")) word = ">>=", length = 2;
    if (next("<") && token(at_ + 1).is("<=")) word = "<<=", length = 2;
    if (word.empty()) {
      flush_read();
      return value;
    }
    const bool plain = word == "=";
    auto target = pending_read_;
    pending_read_.reset();
    at_ += length;
    const Value right = assignment();
    flush_read();
    if (target) {
      access(target->first, target->second, true, !plain);
      return right;
    }
    if (at_ > begin && token(begin).kind == Kind::identifier && place.name == token(begin).text && scope_.contains(place.name)) assign(place.name, word, right);
    return right;
  }

  void assign(const std::string& name, const std::string& word, const Value& right) {
    Value& old = scope_[name];
    if (old.kind == Value::Kind::pointer) {
      if (word == "=" && right.kind == Value::Kind::pointer) old = right;
      else if (word == "+=" && right.kind == Value::Kind::number) old.number = old.number + right.number * P::constant(old.width);
      else old.number = unknown();
      return;
    }
    if (word == "=") old = right.kind == Value::Kind::number ? named(name, right.number) : right;
    else if (old.kind != Value::Kind::number || right.kind != Value::Kind::number) old = number(unknown());
    else if (word == "+=") old = named(name, old.number + right.number);
    else if (word == "-=") old = named(name, old.number - right.number);
    else if (word == "*=") old = named(name, old.number * right.number);
    else if (word == "/=") old = named(name, quotient(old.number, right.number));
    else if (word == "%=") old = named(name, remainder(old.number, right.number));
    else old = number(unknown());
  }

  // A name for a value, so that a guard on the name is remembered.
  Value named(const std::string& name, const P& value) {
    if (value.value()) return number(value);
    Variable variable;
    variable.kind = Variable::Kind::defined;
    variable.a = value;
    return number(P::atom(fresh(variable, name + "'")));
  }

  P quotient(const P& a, const P& b) {
    if (const auto exact = a.divided_by(b)) return *exact;
    if (a.value() && b.value() && *b.value() != 0) return P::constant(*a.value() / *b.value());
    Variable variable;
    variable.kind = Variable::Kind::quotient;
    variable.a = a;
    variable.b = b;
    // Of sizes alone it is itself a size.
    if (sizes_only(a) && sizes_only(b)) return P::atom(fmt::format("(({}) / ({}))", a.text(), b.text()));
    return P::atom(fresh(variable));
  }

  P remainder(const P& a, const P& b) {
    Variable variable;
    variable.kind = Variable::Kind::remainder;
    variable.a = a;
    variable.b = b;
    return P::atom(fresh(variable));
  }

  bool sizes_only(const P& p) const {
    for (const auto& [monomial, coefficient] : p.terms())
      for (const std::string& atom : monomial)
        if (!is_size(atom) || atom[0] == '@') return false;
    return true;
  }

  void flush_read() {
    if (!pending_read_) return;
    access(pending_read_->first, pending_read_->second, false, true);
    pending_read_.reset();
  }

  // Until the next restore() a condition holds, or fails, as far as that says anything of its comparisons.
  void guard(const Condition& when, bool holds) {
    open_undo();
    if (holds ? when.conjunction : when.disjunction)
      for (const Comparison& c : when.all) apply(c, holds);
  }

  void open_undo() {
    undo_.emplace_back();
    sum_marks_.push_back(sums_.size());
  }

  Value conditional(Place* place) {
    const std::size_t begin = at_;
    Value value = binary(0, place);
    if (!next("?")) return value;
    flush_read();
    const std::size_t question = at_;
    const Condition when = condition(begin, question);
    at_ = question + 1;
    guard(when, true);
    data_ += when.data;
    Value yes = assignment();
    flush_read();
    restore();
    accept(":");
    guard(when, false);
    const Value no = assignment();
    flush_read();
    restore();
    data_ -= when.data;
    if (yes.kind == Value::Kind::pointer) return yes;
    if (yes.kind == Value::Kind::number && no.kind == Value::Kind::number) {
      const auto a = bound(yes.number, true), b = bound(no.number, true);
      Variable variable;
      if (a && b) variable.high = (*b - *a).never_negative() ? b : a;
      return number(P::atom(fresh(variable)));
    }
    return number(unknown());
  }

  // Precedence levels, loosest first.
  static int level(std::string_view word) {
    if (word == "||") return 1;
    if (word == "&&") return 2;
    if (word == "|") return 3;
    if (word == "^") return 4;
    if (word == "&") return 5;
    if (word == "==" || word == "!=") return 6;
    if (word == "<" || word == ">" || word == "<=" || word == ">=") return 7;
    if (word == "<<" || word == ">>") return 8;
    if (word == "+" || word == "-") return 9;
    if (word == "*" || word == "/" || word == "%") return 10;
    return 0;
  }

  std::string operator_here(std::size_t& length) const {
    length = 1;
    if (at_ >= end_ || token(at_).kind != Kind::symbol) return "";
    if ((next("<") && token(at_ + 1).is("<")) || (next(">") && token(at_ + 1).is(">"))) {
      length = 2;
      return next("<") ? "<<" : ">>";
    }
    if ((next("<") && token(at_ + 1).is("<=")) || (next(">") && token(at_ + 1).is(">="))) return "";
    if ((next("%") || next("|") || next("&") || next("^")) && token(at_ + 1).is("=")) return "";
    return std::string(token(at_).text);
  }

  Value binary(int least, Place* place) {
    Value left = unary(place);
    for (;;) {
      std::size_t length = 1;
      const std::string word = operator_here(length);
      const int here = level(word);
      if (here == 0 || here <= least) return left;
      flush_read();
      if (place) place->name.clear();
      at_ += length;
      const Value right = binary(here, nullptr);
      flush_read();
      left = combine(left, word, right);
    }
  }

  Value combine(const Value& left, const std::string& word, const Value& right) {
    if (left.kind == Value::Kind::pointer && right.kind == Value::Kind::number && (word == "+" || word == "-")) {
      Value moved = left;
      const P by = right.number * P::constant(left.width);
      moved.number = word == "+" ? left.number + by : left.number - by;
      return moved;
    }
    if (right.kind == Value::Kind::pointer && left.kind == Value::Kind::number && word == "+") return combine(right, word, left);
    if (left.kind != Value::Kind::number || right.kind != Value::Kind::number) return number(unknown());
    const P &a = left.number, &b = right.number;
    if (word == "+") return number(a + b);
    if (word == "-") return number(a - b);
    if (word == "*") return number(a * b);
    if (word == "/" && !b.terms().empty()) return number(quotient(a, b));
    if (word == "%" && !b.terms().empty()) return number(remainder(a, b));
    if (word == "<<" && b.value() && *b.value() >= 0 && *b.value() < 32) return number(a * P::constant(std::int64_t{1} << *b.value()));
    if (word == ">>" && b.value() && *b.value() >= 0 && *b.value() < 32) return number(quotient(a, P::constant(std::int64_t{1} << *b.value())));
    if (word == "&" && b.value()) return number(remainder(a, P::constant(*b.value() + 1)));
    return number(unknown());
  }

  static bool is_type(std::string_view word) {
    static const std::set<std::string_view> words = {"int", "unsigned", "long", "short", "char", "float", "double", "size_t", "bool", "half", "__half", "half2", "__half2",
                                                     "float2", "float3", "float4", "int2", "int4", "uint4", "uint2", "double2", "const", "volatile", "int32_t", "uint32_t",
                                                     "int64_t", "uint64_t", "uint8_t", "int8_t", "int16_t", "uint16_t", "signed", "nv_bfloat16", "__nv_bfloat16", "__nv_bfloat162",
                                                     "nv_bfloat162", "uint", "uchar", "T", "scalar_t", "DType", "Dtype", "uint3", "int3", "void", "uchar4", "char4", "double4", "longlong2"};
    return words.contains(word);
  }

  // Elements of the base type in one of a vector type: float4 over float.
  static std::int64_t width_of(const std::string& words) {
    for (const auto& [name, width] : {std::pair{"float4", 4}, {"int4", 4}, {"uint4", 4}, {"float2", 2}, {"double2", 2}, {"half2", 2}, {"__half2", 2}, {"int2", 2},
                                      {"uint2", 2}, {"bfloat162", 2}, {"uchar4", 4}, {"char4", 4}, {"float3", 3}})
      if (words.find(name) != std::string::npos) return width;
    return 1;
  }

  Value cast(Value value, const std::string& words) {
    if (value.kind == Value::Kind::pointer && words.find('*') != std::string::npos) {
      value.width = width_of(words);
      if (value.width == 4 && kernel_->halves.contains(value.buffer)) value.width = 8;
    }
    return value;
  }

  Value unary(Place* place) {
    if (at_ >= end_) return {};
    if (accept("-")) {
      const Value of = unary(nullptr);
      flush_read();
      return of.kind == Value::Kind::number ? number(P() - of.number) : of;
    }
    if (accept("+")) return unary(place);
    if (accept("!") || accept("~")) {
      unary(nullptr);
      flush_read();
      return number(unknown());
    }
    if (next("++") || next("--")) {
      const bool up = next("++");
      ++at_;
      Place inner;
      const Value of = unary(&inner);
      if (pending_read_) {
        access(pending_read_->first, pending_read_->second, true, true);
        pending_read_.reset();
      } else if (!inner.name.empty() && scope_.contains(inner.name)) {
        assign(inner.name, up ? "+=" : "-=", number(P::constant(1)));
      }
      return of;
    }
    if (accept("*")) {
      const Value of = unary(nullptr);
      flush_read();
      if (of.kind == Value::Kind::pointer) {
        pending_read_ = {of, P()};
        return number(loaded_from(of));
      }
      return number(unknown());
    }
    if (accept("&")) {
      const Value of = unary(nullptr);
      if (pending_read_) {
        Value pointer = pending_read_->first;
        pointer.number = pointer.number + pending_read_->second * P::constant(pointer.width);
        pending_read_.reset();
        return pointer;
      }
      return of;
    }
    if (next("(")) {
      // A cast: nothing but words of a type in the brackets, and an operand behind them.
      const std::size_t close = matching_bracket(tokens_, at_);
      bool type = close > at_ + 1 && close < end_, star = false;
      for (std::size_t i = at_ + 1; i < close && type; ++i) {
        star |= tokens_[i].is("*");
        type = (tokens_[i].kind == Kind::identifier && (is_type(tokens_[i].text) || !scope_.contains(std::string(tokens_[i].text)))) || tokens_[i].is("*") || tokens_[i].is("::") ||
               tokens_[i].is("&");
      }
      const SourceToken& after = token(close + 1);
      const bool operand = close + 1 < end_ && (after.kind == Kind::identifier || after.kind == Kind::number || after.is("(") || after.is("&") || after.is("*") || after.is("-") || after.is("+"));
      const bool known = token(at_ + 1).kind == Kind::identifier && is_type(token(at_ + 1).text);
      if (type && operand && (known || star || after.kind == Kind::identifier || after.kind == Kind::number)) {
        const std::string words = source_text(source_, tokens_, at_ + 1, close);
        at_ = close + 1;
        const Value of = unary(nullptr);
        return cast(of, words);
      }
    }
    return postfix(primary(place), place);
  }

  Value primary(Place* place) {
    const SourceToken& here = token(at_);
    if (here.is("(")) {
      const std::size_t close = std::min(matching_bracket(tokens_, at_), end_);
      const std::size_t saved = end_;
      ++at_;
      end_ = close;
      Value value = assignment_keeping_read();
      while (accept(",")) {
        flush_read();
        value = assignment_keeping_read();
      }
      at_ = close + 1;
      end_ = saved;
      return value;
    }
    ++at_;
    if (here.kind == Kind::number) {
      if (here.text.find('.') == std::string_view::npos && here.text.find('f') == std::string_view::npos)
        if (const auto parsed = Expression::parse(here.text))
          if (const auto value = parsed->evaluate_integer({})) return number(P::constant(*value));
      return number(unknown());
    }
    if (here.kind != Kind::identifier) return number(unknown());
    std::string word(here.text);
    while (next("::")) {
      ++at_;
      word = std::string(token(at_++).text);
    }
    if (word.ends_with("_cast") && next("<")) {
      const std::size_t after = after_template_list(tokens_, at_);
      if (after > at_ && token(after).is("(")) {
        const std::string words = source_text(source_, tokens_, at_ + 1, after - 1);
        at_ = after;
        Value value = primary(nullptr);
        if (pending_read_ && words.find('&') != std::string::npos) {  // reinterpret_cast<float4&>(x[i])
          pending_read_->first.number = pending_read_->first.number + pending_read_->second * P::constant(pending_read_->first.width);
          pending_read_->second = P();
          pending_read_->first.width = width_of(words);
          return value;
        }
        return cast(value, words);
      }
    }
    if (next("<")) {  // f<T>(…)
      const std::size_t after = after_template_list(tokens_, at_);
      if (after > at_ && after < end_ && token(after).is("(")) at_ = after;
    }
    if ((word == "threadIdx" || word == "blockIdx" || word == "blockDim" || word == "gridDim") && next(".")) {
      const std::string axis(token(at_ + 1).text);
      at_ += 2;
      return thread_value(word, axis);
    }
    if (word == "warpSize") return number(P::constant(32));
    if (next("(")) return call(word);
    if (const auto found = scope_.find(word); found != scope_.end()) {
      if (place) place->name = word;
      return found->second;
    }
    if (const auto value = global_constant(word)) return number(P::constant(*value));
    return number(unknown());
  }

  // Within brackets: `(x[i]) = …` still writes.
  Value assignment_keeping_read() {
    const auto saved = pending_read_;
    pending_read_.reset();
    Place place;
    const std::size_t begin = at_;
    Value value = conditional(&place);
    if (at_ < end_ && !next(",")) {
      at_ = begin;
      pending_read_.reset();
      value = assignment();
    }
    return value;
  }

  Value call(const std::string& word) {
    const std::size_t open = at_, close = std::min(matching_bracket(tokens_, at_), end_);
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    std::size_t begin = open + 1;
    for (std::size_t i = open + 1; i <= close; ++i) {
      if (i < close && (token(i).is("(") || token(i).is("[") || token(i).is("{"))) {
        i = std::min(matching_bracket(tokens_, i), close);
        if (i < close) continue;
      }
      if (i != close && !token(i).is(",")) continue;
      if (i > begin) ranges.emplace_back(begin, i);
      begin = i + 1;
    }
    std::vector<Value> arguments;
    for (const auto& [from, to] : ranges) arguments.push_back(expression(from, to));
    at_ = close + 1;
    const auto is_number = [&](std::size_t i) { return i < arguments.size() && arguments[i].kind == Value::Kind::number; };
    if ((word == "min" || word == "max" || word == "fminf" || word == "fmaxf" || word == "imin") && is_number(0) && is_number(1)) {
      Variable variable;
      if (word == "min" || word == "imin") {
        variable.kind = Variable::Kind::least;
        variable.a = arguments[0].number;
        variable.b = arguments[1].number;
      } else {
        const auto a = bound(arguments[0].number, true), b = bound(arguments[1].number, true);
        if (a && b) variable.high = (*b - *a).never_negative() ? b : a;
        variable.low = P();
      }
      return number(P::atom(fresh(variable)));
    }
    if (is_type(word) && is_number(0)) return arguments[0];
    if (word.starts_with("atomic") && !arguments.empty() && arguments[0].kind == Value::Kind::pointer) {
      access(arguments[0], P(), true, true, true);
      return number(loaded_from(arguments[0]));
    }
    if ((word == "__ldg" || word == "__ldcs" || word == "__ldcg" || word == "__ldca") && !arguments.empty() && arguments[0].kind == Value::Kind::pointer) {
      pending_read_ = {arguments[0], P()};
      return number(loaded_from(arguments[0]));
    }
    if ((word == "__stcs" || word == "__stcg" || word == "__stwb") && arguments.size() > 1) {
      access(arguments[0], P(), true, false);
      return {};
    }
    return inlined(word, arguments);
  }

  // A device function of the file is read with its arguments in place.
  Value inlined(const std::string& word, const std::vector<Value>& arguments) {
    std::optional<Function> function;
    if (calls_ < 5 && !open_.contains(word))
      for (std::size_t i = 1; i + 1 < tokens_.size() && !function; ++i)
        if (tokens_[i].is(word) && (tokens_[i - 1].kind == Kind::identifier || tokens_[i - 1].is("*") || tokens_[i - 1].is("&") || tokens_[i - 1].is(">")))
          if (auto candidate = function_at(i); candidate && candidate->parameters.size() >= arguments.size()) function = candidate;
    if (!function) {
      for (const Value& argument : arguments)
        if (argument.kind == Value::Kind::pointer && !argument.buffer.empty()) {
          PointerFacts& facts = facts_.pointers[argument.buffer];
          facts.unknown = true;
          facts.read = facts.read_first = true;
        }
      return number(unknown());
    }
    const auto saved = scope_;
    const int data = data_;
    const std::size_t saved_at = at_, saved_end = end_;
    for (std::size_t i = 0; i < function->parameters.size(); ++i) scope_[function->parameters[i].first] = i < arguments.size() ? arguments[i] : Value{};
    ++calls_;
    open_.insert(word);
    returned_.reset();
    at_ = function->body_from;
    block(function->body_to);
    open_.erase(word);
    --calls_;
    at_ = saved_at;
    end_ = saved_end;
    scope_ = saved;
    data_ = data;
    auto result = returned_.value_or(number(unknown()));
    returned_.reset();
    return result.kind == Value::Kind::other ? number(unknown()) : result;
  }

  Value postfix(Value value, Place* place) {
    for (;;) {
      if (at_ >= end_) return value;
      if (next("[")) {
        const std::size_t close = std::min(matching_bracket(tokens_, at_), end_);
        const auto saved = pending_read_;
        const Value index = expression(at_ + 1, close);
        pending_read_ = saved;
        at_ = close + 1;
        flush_read();
        if (place) place->name.clear();
        if (value.kind == Value::Kind::pointer) {
          pending_read_ = {value, index.kind == Value::Kind::number ? index.number : unknown()};
          value = number(loaded_from(value));
        } else {
          value = number(unknown());
        }
      } else if (next(".") || next("->")) {
        at_ += 2;
        if (next("(")) call("");
        if (place) place->name.clear();
        if (value.kind != Value::Kind::pointer) value = number(unknown());
      } else if (next("++") || next("--")) {
        const bool up = next("++");
        ++at_;
        if (pending_read_) {
          access(pending_read_->first, pending_read_->second, true, true);
          pending_read_.reset();
        } else if (place && !place->name.empty() && scope_.contains(place->name)) {
          const Value before = value;
          assign(place->name, up ? "+=" : "-=", number(P::constant(1)));
          value = before;
          place->name.clear();
        }
      } else {
        return value;
      }
    }
  }

  // ---- statements

  std::size_t statement_end(std::size_t i) const {
    while (i < tokens_.size() && !tokens_[i].is(";") && !tokens_[i].is("}")) {
      if (tokens_[i].is("(") || tokens_[i].is("{") || tokens_[i].is("[")) i = matching_bracket(tokens_, i);
      ++i;
    }
    return std::min(i, tokens_.size());
  }

  void block(std::size_t to) {
    while (at_ < to && at_ < tokens_.size() && work_ < work_limit) {
      const std::size_t before = at_;
      statement(to);
      if (at_ <= before) at_ = before + 1;
    }
    at_ = to;
  }

  // Whether the statement at `i` leaves what it stands in.
  bool leaves(std::size_t i) const {
    if (tokens_[i].is("{")) {
      const std::size_t close = matching_bracket(tokens_, i);
      for (std::size_t k = i + 1; k < close; ++k) {
        if (tokens_[k].is("{") || tokens_[k].is("(")) k = matching_bracket(tokens_, k);
        else if (tokens_[k].is("return") || tokens_[k].is("continue") || tokens_[k].is("break")) return true;
      }
      return false;
    }
    return token(i).is("return") || token(i).is("continue") || token(i).is("break");
  }

  void scoped(std::size_t to) {
    const auto saved = scope_;
    if (token(at_).is("{")) {
      const std::size_t close = std::min(matching_bracket(tokens_, at_), to);
      ++at_;
      block(close);
      at_ = close + 1;
    } else {
      statement(to);
    }
    // What is declared inside ends; what is assigned inside stays.
    for (auto& [name, value] : scope_)
      if (const auto old = saved.find(name); old != saved.end() && old->second.kind == value.kind && value.number != old->second.number) {
        const auto a = value.kind == Value::Kind::number ? bound(old->second.number, true) : std::nullopt;
        const auto b = value.kind == Value::Kind::number ? bound(value.number, true) : std::nullopt;
        if (value.kind != Value::Kind::number) continue;
        Variable either;
        if (a && b) either.high = (*b - *a).never_negative() ? b : a;
        value = number(P::atom(fresh(either)));
      }
    for (const auto& [name, value] : saved) scope_.try_emplace(name, value);
    for (auto i = scope_.begin(); i != scope_.end();) i = saved.contains(i->first) ? std::next(i) : scope_.erase(i);
  }

  void restore() {
    sums_.resize(std::min(sums_.size(), sum_marks_.back()));
    sum_marks_.pop_back();
    for (auto change = undo_.back().rbegin(); change != undo_.back().rend(); ++change) variables_[change->first] = change->second;
    undo_.pop_back();
  }

  void statement(std::size_t to) {
    const SourceToken& here = token(at_);
    if (here.is(";")) {
      ++at_;
    } else if (here.is("{")) {
      scoped(to);
    } else if (here.is("if")) {
      if_statement(to);
    } else if (here.is("for") || here.is("while")) {
      loop(to);
    } else if (here.is("do")) {
      ++at_;
      widen(at_, loop_end(at_));
      scoped(to);
      at_ = statement_end(at_) + 1;
    } else if (here.is("switch")) {
      at_ = matching_bracket(tokens_, at_ + 1) + 1;
      const int data = data_++;
      scoped(to);
      data_ = data;
    } else if (here.is("return")) {
      const std::size_t end = statement_end(at_);
      if (end > at_ + 1) returned_ = expression(at_ + 1, end);
      at_ = end + 1;
    } else if (here.is("else") || here.is("break") || here.is("continue") || here.is("case") || here.is("default") || here.is("goto")) {
      while (at_ < to && !token(at_).is(";") && !token(at_).is(":")) ++at_;
      ++at_;
    } else {
      const std::size_t end = std::min(statement_end(at_), to);
      simple(at_, end);
      at_ = end + 1;
    }
  }

  void if_statement(std::size_t to) {
    std::size_t open = at_ + 1;
    if (token(open).is("constexpr")) ++open;
    const std::size_t close = matching_bracket(tokens_, open);
    if (close >= to) {
      at_ = to;
      return;
    }
    const Condition when = condition(open + 1, close);
    at_ = close + 1;
    const bool away = leaves(at_);
    guard(when, true);
    const int data = data_;
    data_ += when.data;
    scoped(to);
    data_ = data;
    restore();
    bool otherwise = false;
    if (token(at_).is("else")) {
      otherwise = true;
      ++at_;
      guard(when, false);
      data_ += when.data;
      scoped(to);
      data_ = data;
      restore();
    }
    if (away && !otherwise && when.disjunction)
      for (const Comparison& c : when.all) apply(c, false);
    if (away && when.data) ++data_;  // what follows depends on it
  }

  std::size_t loop_end(std::size_t body) const {
    if (token(body).is("{")) return matching_bracket(tokens_, body);
    if (token(body).is("for") || token(body).is("while") || token(body).is("if")) {
      const std::size_t close = matching_bracket(tokens_, body + 1);
      return loop_end(close + 1);
    }
    return statement_end(body);
  }

  // Names that a loop changes have no one value within it.
  void widen(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < tokens_.size(); ++i) {
      if (token(i).kind != Kind::identifier || (i > 0 && (token(i - 1).is(".") || token(i - 1).is("->")))) continue;
      const std::string name(token(i).text);
      const auto found = scope_.find(name);
      if (found == scope_.end()) continue;
      bool up = token(i + 1).is("++") || token(i + 1).is("+=") || (i > 0 && token(i - 1).is("++"));
      bool down = token(i + 1).is("--") || token(i + 1).is("-=") || token(i + 1).is("/=") || (i > 0 && token(i - 1).is("--")) ||
                  (token(i + 1).is(">") && token(i + 2).is(">="));
      bool other = (token(i + 1).is("=") || token(i + 1).is("*=") || ((token(i + 1).is("%") || token(i + 1).is("|") || token(i + 1).is("&") || token(i + 1).is("^")) && token(i + 2).is("="))) ||
                   (token(i + 1).is("<") && token(i + 2).is("<="));
      // A declaration within the loop is another name; `i = i / 2` only shrinks.
      if (token(i + 1).is("=") && i > 0 && token(i - 1).kind == Kind::identifier) continue;
      if (token(i + 1).is("=") && token(i + 2).is(name) && (token(i + 3).is("/") || token(i + 3).is(">"))) down = true, other = false;
      if (!up && !down && !other) continue;
      Value& value = found->second;
      if (value.kind == Value::Kind::pointer) {
        value.number = unknown();
        continue;
      }
      if (value.kind != Value::Kind::number) continue;
      Variable variable;
      if (up && !other) variable.start = value.number;
      if (up && !other) variable.low = bound(value.number, false);
      if (down && !up && !other) {
        variable.high = bound(value.number, true);
        variable.low = P();
      }
      const std::string atom = fresh(variable, name + "'");
      value = number(P::atom(atom));
    }
  }

  // `if (n >= most) break;` anywhere in a loop's body holds at its beginning too.
  void invariants(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (!token(i).is("if") || !token(i + 1).is("(")) continue;
      const std::size_t close = matching_bracket(tokens_, i + 1);
      if (close + 1 >= to || !leaves(close + 1) || close != i + 5) continue;
      if ((token(i + 3).is(">=") || token(i + 3).is("==")) && scope_.contains(std::string(token(i + 2).text))) {
        const Comparison c{expression(i + 2, i + 3), expression(i + 4, i + 5), ">="};
        apply(c, false);
      }
    }
  }

  void loop(std::size_t to) {
    const bool is_for = token(at_).is("for");
    const std::size_t open = at_ + 1, close = matching_bracket(tokens_, open);
    if (close >= to) {
      at_ = to;
      return;
    }
    const auto saved = scope_;
    std::size_t first = open, second = close;
    if (is_for) {
      int found = 0;
      for (std::size_t i = open + 1; i < close; ++i) {
        if (token(i).is("(") || token(i).is("[") || token(i).is("{")) i = matching_bracket(tokens_, i);
        else if (token(i).is(";")) (found++ == 0 ? first : second) = i;
      }
      if (found != 2) {
        at_ = close + 1;
        scoped(to);
        return;
      }
      simple(open + 1, first);
    }
    const std::size_t body = close + 1, end = std::min(loop_end(body), to);
    open_undo();
    if (is_for) widen(second + 1, close);
    widen(body, end);
    invariants(body, end);
    const Condition when = condition(first + 1, is_for ? second : close);
    if (when.conjunction)
      for (const Comparison& c : when.all) apply(c, true);
    const int data = data_;
    data_ += when.data;
    at_ = body;
    scoped(to);
    data_ = data;
    restore();
    at_ = std::max(at_, end + (token(end).is("}") || token(end).is(";") ? 1 : 0));
    for (auto i = scope_.begin(); i != scope_.end();) i = saved.contains(i->first) ? std::next(i) : scope_.erase(i);
  }

  // A declaration or an expression.
  void simple(std::size_t from, std::size_t to) {
    // type words, then a name, then what a declarator goes on with
    std::size_t i = from;
    bool shared = false, type = false, pointer = false;
    while (i < to && (token(i).is("const") || token(i).is("static") || token(i).is("volatile") || token(i).is("extern") || token(i).is("__shared__") || token(i).is("constexpr") ||
                      token(i).is("register") || token(i).is("__restrict__") || token(i).is("typename") || token(i).is("struct") || token(i).is("__align__") || token(i).is("alignas"))) {
      shared |= token(i).is("__shared__");
      if (token(i + 1).is("(")) i = matching_bracket(tokens_, i + 1);
      ++i;
    }
    std::size_t words = 0;
    while (i < to && token(i).kind == Kind::identifier && (words == 0 || token(i + 1).kind == Kind::identifier || token(i - 1).is("::") || is_type(token(i).text))) {
      if (words > 0 && !is_type(token(i).text) && !token(i - 1).is("::") && !is_type(token(i - 1).text)) break;
      ++words;
      ++i;
      while (i < to && token(i).is("::")) {
        ++i;
        if (token(i).kind == Kind::identifier) ++i;
      }
      if (i < to && token(i).is("<")) {
        const std::size_t after = after_template_list(tokens_, i);
        if (after > i) i = after;
      }
    }
    type = words > 0;
    std::size_t name = i;
    while (name < to && (token(name).is("*") || token(name).is("&") || token(name).is("__restrict__") || token(name).is("const") || token(name).is("__restrict"))) {
      pointer |= token(name).is("*");
      ++name;
    }
    const SourceToken& after = token(name + 1);
    const bool declares = type && name < to && token(name).kind == Kind::identifier &&
                          (name + 1 == to || after.is("=") || after.is(",") || after.is("[") || after.is("{") || (after.is("(") && is_type(token(from).text)) ||
                           (after.is(";"))) &&
                          !(pointer && scope_.contains(std::string(token(from).text)));
    if (!declares) {
      expression(from, to);
      flush_read();
      return;
    }
    const std::string words_text = source_text(source_, tokens_, from, name);
    while (name < to) {
      while (name < to && (token(name).is("*") || token(name).is("&"))) {
        pointer |= token(name).is("*");
        ++name;
      }
      std::size_t end = name;
      while (end < to && !token(end).is(",")) {
        if (token(end).is("(") || token(end).is("[") || token(end).is("{")) end = matching_bracket(tokens_, end);
        ++end;
      }
      declare(name, std::min(end, to), shared, pointer, words_text);
      name = end + 1;
    }
  }

  void declare(std::size_t name, std::size_t end, bool shared, bool pointer, const std::string& words) {
    const std::string word(token(name).text);
    if (shared || token(name + 1).is("[")) {
      std::size_t i = name + 1;
      for (; token(i).is("["); i = matching_bracket(tokens_, i) + 1) {}
      if (token(i).is("=")) expression(i + 1, end), flush_read();
      scope_[word] = Value{};
      return;
    }
    if (token(name + 1).is("=") || token(name + 1).is("(") || token(name + 1).is("{")) {
      const bool brackets = !token(name + 1).is("=");
      const Value value = brackets ? expression(name + 2, end > name + 2 ? end - 1 : end) : expression(name + 2, end);
      flush_read();
      if (value.kind == Value::Kind::pointer && (pointer || words.find("auto") != std::string::npos)) scope_[word] = value;
      else if (value.kind == Value::Kind::number && is_real(words)) scope_[word] = number(unknown());
      else scope_[word] = value.kind == Value::Kind::number && !pointer ? named(word, value.number) : Value{};
      return;
    }
    scope_[word] = pointer ? Value{} : number(unknown());
  }

  static bool is_real(const std::string& words) {
    return words.find("float") != std::string::npos || words.find("double") != std::string::npos || words.find("half") != std::string::npos;
  }

  void bind_parameters() {
    for (const auto& [name, pointer] : kernel_->parameters) {
      if (pointer) {
        scope_[name] = {Value::Kind::pointer, P(), name, 1};
        facts_.pointers[name];
      } else if (!scope_.contains(name)) {
        scope_[name] = number(P::atom(name));
      }
    }
  }

  std::string_view source_;
  Tokens tokens_;
  std::map<std::string, P> constants_;
  std::optional<KnownLaunch> launch_;
  std::optional<std::array<std::int64_t, 3>> given_block_;
  std::optional<Function> kernel_;
  KernelFacts facts_;
  std::map<std::string, Value> scope_;
  std::map<std::string, Variable> variables_;
  std::set<std::string> indices_, open_;
  std::array<std::optional<P>, 3> grid_;
  std::vector<std::vector<std::pair<std::string, Variable>>> undo_;
  std::vector<std::pair<P, P>> sums_;      // sum <= limit, where it holds
  std::vector<std::size_t> sum_marks_;     // of each undo_
  int least_depth_ = 0;
  bool counts_blocks_ = true;
  std::optional<std::pair<Value, P>> pending_read_;
  std::optional<Value> returned_;
  std::size_t at_ = 0, end_ = 0;
  int next_ = 0, work_ = 0, calls_ = 0;
  int data_ = 0;  // conditions around this place that depend on data
};

}  // namespace

KernelFacts kernel_facts(std::string_view source, std::string_view kernel, const std::map<std::string, P>& constants, const std::optional<KnownLaunch>& launch,
                         const std::optional<std::array<std::int64_t, 3>>& block) {
  return Reader(source, kernel, constants, launch, block).run();
}

}  // namespace cudal1::kernel
