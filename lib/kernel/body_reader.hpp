// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/kernel_facts.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/value_ranges.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// Reads a kernel's body once, from the top, as a thread would: each name has a value over sizes, threads and variables with
// bounds, and each access through a pointer parameter is noted. A loop's body is read once, with what it changes unknown.
class BodyReader {
 public:
  BodyReader(const KernelSource& source, std::string_view kernel, const std::map<std::string, Polynomial>& constants,
             const std::optional<KnownLaunch>& launch, const std::optional<std::array<std::int64_t, 3>>& block);

  KernelFacts run();

 private:
  using P = Polynomial;
  using Kind = SourceToken::Kind;

  struct Value {
    enum class Kind { number, pointer, other } kind = Kind::other;
    P number;  // pointer: the offset in elements
    std::string buffer;
    std::int64_t width = 1;  // elements that one access through the pointer touches
  };

  struct Comparison {
    Value left, right;
    std::string word;
  };

  // The comparisons of a condition that all hold when it does (`&&`), or that all fail when it fails (`||`).
  struct Condition {
    std::vector<Comparison> all;
    bool conjunction = true, disjunction = false;
    bool data = false;
  };

  struct Place {
    bool element = false;
    Value pointer;
    P index;
    std::string name;
  };

  static Value number(P p) { return {Value::Kind::number, std::move(p), {}, 1}; }
  Value named(const std::string& name, const P& value) { return number(ranges_.named(name, value)); }
  const SourceToken& token(std::size_t i) const { return code_.token(i); }

  // kernel_facts.cpp
  // Of a kernel that nothing launches: as many dimensions as it asks for, and as many threads as its shared arrays hold.
  void choose_block();
  void bind_parameters();
  P thread_extent(std::string_view what, std::size_t axis) const;
  Value thread_value(const std::string& what, const std::string& axis_name);

  // body_accesses.cpp
  void access(const Value& pointer, const P& index, bool writes, bool reads, bool atomic = false);
  // The sizes that stand before what counts: `row * N + col` is counted in steps of N and 1.
  void note_strides(PointerFacts& facts, const P& at);
  void flush_read();

  // body_conditions.cpp
  void apply(const Comparison& c, bool holds);
  Condition condition(std::size_t from, std::size_t to);
  // `j < rows[i + 1]` of a loop that begins at `rows[i]`.
  void note_offsets(const Comparison& c);
  // Until the next ranges_.close() a condition holds, or fails, as far as that says anything of its comparisons.
  void guard(const Condition& when, bool holds);

  // body_expressions.cpp
  Value expression(std::size_t from, std::size_t to);
  bool next(std::string_view word) const;
  bool accept(std::string_view word);
  Value assignment();
  void assign(const std::string& name, const std::string& word, const Value& right);
  Value conditional(Place* place);
  // Precedence levels, loosest first.
  static int level(std::string_view word);
  std::string operator_here(std::size_t& length) const;
  Value binary(int least, Place* place);
  Value combine(const Value& left, const std::string& word, const Value& right);

  // body_operands.cpp
  Value cast(Value value, const std::string& words);
  std::optional<Value> cast();
  Value in_brackets();
  Value unary(Place* place);
  Value primary(Place* place);
  // Within brackets: `(x[i]) = …` still writes.
  Value assignment_keeping_read();
  Value call(const std::string& word);
  // A device function of the file is read with its arguments in place.
  Value inlined(const std::string& word, const std::vector<Value>& arguments);
  Value postfix(Value value, Place* place);

  // body_statements.cpp
  void block(std::size_t to);
  void scoped(std::size_t to);
  void statement(std::size_t to);
  void if_statement(std::size_t to);
  // Names that a loop changes have no one value within it.
  void widen(std::size_t from, std::size_t to);
  // `if (n >= most) break;` anywhere in a loop's body holds at its beginning too.
  void invariants(std::size_t from, std::size_t to);
  void loop(std::size_t to);
  // A declaration or an expression.
  void simple(std::size_t from, std::size_t to);
  void declare(std::size_t name, std::size_t end, bool shared, bool pointer, const std::string& words);

  const KernelSource& code_;
  const std::vector<SourceToken>& tokens_;
  std::map<std::string, P> constants_;
  std::optional<KnownLaunch> launch_;
  std::optional<std::array<std::int64_t, 3>> given_block_;
  std::optional<FunctionText> kernel_;
  KernelFacts facts_;
  ValueRanges ranges_;
  std::map<std::string, Value> scope_;
  std::set<std::string> open_;  // device functions that are being read
  std::optional<std::pair<Value, P>> pending_read_;
  std::optional<Value> returned_;
  std::size_t at_ = 0, end_ = 0;
  int calls_ = 0;
  int data_ = 0;  // conditions around this place that depend on data
};

}  // namespace cudal1::kernel
