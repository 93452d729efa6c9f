// SPDX-License-Identifier: Apache-2.0
#include "kernel/value_ranges.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::kernel {

bool ValueRanges::is_size(const std::string& atom) { return atom[0] != '$' && atom.find("Idx.") == std::string::npos; }

const Variable* ValueRanges::find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

bool ValueRanges::spend() { return ++work_ <= work_limit_; }

std::string ValueRanges::fresh(Variable variable, std::string_view like) {
  std::string name = fmt::format("${}{}", like, next_++);
  variables_[name] = std::move(variable);
  return name;
}

Polynomial ValueRanges::unknown() { return P::atom(fresh({})); }

Polynomial ValueRanges::named(const std::string& name, const P& value) {
  if (value.value()) return value;
  Variable variable;
  variable.kind = Variable::Kind::defined;
  variable.a = value;
  return P::atom(fresh(variable, name + "'"));
}

Polynomial ValueRanges::quotient(const P& a, const P& b) {
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

Polynomial ValueRanges::remainder(const P& a, const P& b) {
  Variable variable;
  variable.kind = Variable::Kind::remainder;
  variable.a = a;
  variable.b = b;
  return P::atom(fresh(variable));
}

Polynomial ValueRanges::loaded_from(const std::string& buffer) {
  Variable variable;
  variable.kind = Variable::Kind::loaded;
  variable.buffer = buffer;
  return P::atom(fresh(variable));
}

Polynomial ValueRanges::either(const P& x, const P& y) {
  const auto a = bound(x, true), b = bound(y, true);
  Variable variable;
  if (a && b) variable.high = (*b - *a).never_negative() ? b : a;
  return P::atom(fresh(variable));
}

std::optional<Polynomial> ValueRanges::bound(const P& p, bool upper, int depth) {
  if (depth > depth_limit_ || !spend()) return std::nullopt;
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

std::optional<Polynomial> ValueRanges::without_sum(const P& p, const P& sum, const P& limit) const {
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

Polynomial ValueRanges::product_of(const std::vector<std::string>& atoms) {
  P product = P::constant(1);
  for (const std::string& atom : atoms) product = product * P::atom(atom);
  return product;
}

std::optional<Polynomial> ValueRanges::atom_bound(const std::string& atom, bool upper, int depth) {
  const auto found = variables_.find(atom);
  if (found == variables_.end() || depth > depth_limit_) return std::nullopt;
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

Polynomial ValueRanges::expanded(const P& p, int depth) const {
  P result;
  for (const auto& [monomial, coefficient] : p.terms()) {
    P product = P::constant(coefficient);
    for (const std::string& atom : monomial) {
      const auto found = variables_.find(atom);
      const bool more = found != variables_.end() && depth < depth_limit_ && (found->second.kind == Variable::Kind::defined || found->second.start);
      product = product * (more ? expanded(found->second.start ? *found->second.start : found->second.a, depth + 1) : P::atom(atom));
    }
    result = result + product;
  }
  return result;
}

bool ValueRanges::depends_on_data(const P& p, int depth) const {
  if (depth > depth_limit_) return true;
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

// What a block's index is held below is how many blocks there are.
void ValueRanges::count_blocks(const P& left, const P& right) {
  const P whole = expanded(left);
  const auto limit = bound(right, true);
  if (!limit || !count_blocks_) return;
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
    if (!plain || by.terms().empty() || blocks_[d]) continue;
    // Blocks of a second axis go on where those of the first end: `blockIdx.x + blockIdx.y * gridDim.x`.
    if (by.text().find("@grid.") != std::string::npos) {
      blocks_[d] = P::constant(1);
      continue;
    }
    const P extent = *limit + P::constant(1);
    if (by == P::constant(1)) blocks_[d] = extent;
    else if (const auto whole_blocks = extent.divided_by(by); whole_blocks && extent.value()) blocks_[d] = *whole_blocks;
    else blocks_[d] = P::atom(fmt::format("ceil_div({}, {})", extent.text(), by.text()));
  }
}

void ValueRanges::at_most(const P& left, const P& right) {
  count_blocks(left, right);
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

void ValueRanges::at_least(const P& v, const P& limit) {
  if (v.terms().size() != 1 || v.terms().begin()->second != 1 || v.terms().begin()->first.size() != 1) return;
  const auto found = variables_.find(v.terms().begin()->first[0]);
  const auto low = bound(limit, false);
  if (found == variables_.end() || !low || !low->never_negative()) return;
  note_change(found->first);
  found->second.low = low;
}

void ValueRanges::equal(const P& a, const P& b) {
  const bool counted = std::exchange(count_blocks_, false);
  at_most(a, b);
  at_most(b, a);
  count_blocks_ = counted;
}

void ValueRanges::note_sum(const P& left, const P& right) {
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

void ValueRanges::note_change(const std::string& atom) {
  if (!undo_.empty()) undo_.back().emplace_back(atom, variables_[atom]);
}

bool ValueRanges::sizes_only(const P& p) const {
  for (const auto& [monomial, coefficient] : p.terms())
    for (const std::string& atom : monomial)
      if (!is_size(atom) || atom[0] == '@') return false;
  return true;
}

void ValueRanges::open() {
  undo_.emplace_back();
  sum_marks_.push_back(sums_.size());
}

void ValueRanges::close() {
  sums_.resize(std::min(sums_.size(), sum_marks_.back()));
  sum_marks_.pop_back();
  for (auto change = undo_.back().rbegin(); change != undo_.back().rend(); ++change) variables_[change->first] = change->second;
  undo_.pop_back();
}

}  // namespace cudal1::kernel
