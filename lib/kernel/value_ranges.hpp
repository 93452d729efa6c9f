// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/polynomial.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// A name that stands for a value within a kernel: "$i'7", or "threadIdx.x".
struct Variable {
  enum class Kind { unknown, defined, quotient, remainder, least, loaded } kind = Kind::unknown;
  Polynomial a, b;                      // defined: a; quotient, remainder, least: of a and b
  std::optional<Polynomial> high, low;  // inclusive, as guards say
  std::optional<Polynomial> start;      // of a loop's variable
  std::string buffer;                   // loaded from
};

// What a kernel's values lie between, by the guards that stand around the place that is being read. Sizes of the task are
// names that stay; everything else is a variable with bounds over sizes.
class ValueRanges {
 public:
  // `count_blocks`: nothing launches the kernel, so its guards say how many blocks there are.
  explicit ValueRanges(bool count_blocks) : count_blocks_(count_blocks) {}

  static bool is_size(const std::string& atom);

  // A new variable's name, with `like` in it.
  std::string fresh(Variable variable, std::string_view like = "");
  Polynomial unknown();
  // A name for a value, so that a guard on the name is remembered.
  Polynomial named(const std::string& name, const Polynomial& value);
  Polynomial quotient(const Polynomial& a, const Polynomial& b);
  Polynomial remainder(const Polynomial& a, const Polynomial& b);
  // An element of a buffer, which may be an index.
  Polynomial loaded_from(const std::string& buffer);
  // Either of two values: at most the larger.
  Polynomial either(const Polynomial& a, const Polynomial& b);

  const Variable* find(const std::string& name) const;
  void declare(const std::string& name, Variable variable) { variables_[name] = std::move(variable); }

  // The largest or smallest value over sizes alone, as far as guards tell.
  std::optional<Polynomial> bound(const Polynomial& p, bool upper, int depth = 0);
  // Every definition put in, down to threads, sizes and what is not known.
  Polynomial expanded(const Polynomial& p, int depth = 0) const;
  bool depends_on_data(const Polynomial& p, int depth = 0) const;

  // `left <= right` holds from here on.
  void at_most(const Polynomial& left, const Polynomial& right);
  // `limit <= v` for one name alone: it is at least that.
  void at_least(const Polynomial& v, const Polynomial& limit);
  // The same with `a == b`, which says nothing of how many blocks there are: it speaks of one of them.
  void equal(const Polynomial& a, const Polynomial& b);

  // What holds from open() on holds until close().
  void open();
  void close();

  // Blocks of each axis, where guards count them.
  const std::array<std::optional<Polynomial>, 3>& blocks() const { return blocks_; }
  // Buffers whose elements bound an index.
  std::set<std::string>& indices() { return indices_; }

  // One step of work; false once there has been too much of it.
  bool spend();
  bool spent() const { return work_ >= work_limit_; }

 private:
  using P = Polynomial;
  static constexpr int depth_limit_ = 16;
  static constexpr int work_limit_ = 60'000;

  // p with its part k * sum replaced by k * limit; empty where p has no such part.
  std::optional<P> without_sum(const P& p, const P& sum, const P& limit) const;
  static P product_of(const std::vector<std::string>& atoms);
  std::optional<P> atom_bound(const std::string& atom, bool upper, int depth);
  void count_blocks(const P& left, const P& right);
  void note_sum(const P& left, const P& right);
  void note_change(const std::string& atom);
  bool sizes_only(const P& p) const;

  bool count_blocks_;
  std::map<std::string, Variable> variables_;
  std::set<std::string> indices_;
  std::array<std::optional<P>, 3> blocks_;
  std::vector<std::vector<std::pair<std::string, Variable>>> undo_;
  std::vector<std::pair<P, P>> sums_;   // sum <= limit, where it holds
  std::vector<std::size_t> sum_marks_;  // of each undo_
  int least_depth_ = 0;
  int next_ = 0, work_ = 0;
};

}  // namespace cudal1::kernel
