// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace cudal1::base {

// What keeps a variant from being called fast without doing its work.
enum class Defence {
  check_poison,    // outputs and scratch memory are overwritten before a run that is checked
  comparison,      // outputs are compared with what is right
  declared_checks, // variants are verified at small ragged sizes, not only at the timed ones
  error_rule,      // errors are held to the reference's own; off: 99 % of the elements within 1e-2 pass
  finite_fill,     // one checked run starts from plausible numbers instead of NaN
  forbidden_calls, // no heap, no launches and no clocks in device code
  fresh_values,    // inputs differ from trial to trial, from set to set and from run to run
  full_size,       // the simulator looks at declared sizes too, in places that nobody can know
  guards,          // words behind and before every buffer are compared afterwards
  hang_memory,     // what did not end is not run again
  influence,       // one element of every input is moved
  input_digests,   // inputs are compared afterwards
  nan_pattern,     // NaN and infinities stand exactly where the truth has them
  own_clock,       // what a published answer's process tells of its times is compared with this program's clock
  patterns,        // inputs of other distributions than the declared one
  sanitizer,       // compute-sanitizer before a final verdict
  secret_weights,  // a module's weights are of a secret seed, and none of them as its constructor made it
  siblings,        // inputs that agree in their outermost elements and differ inside
  slices,          // every row and batch is held to the rule too
  slope,           // launches too short to time alone take what the longer batch of them took
  state,           // device code that may keep values between launches is refused, and what changed its variables
  task_gate,       // tasks whose answer needs no work are refused
  timed_outputs,   // what timed executions leave is verified
  timed_poison,    // and overwritten before
  write_floor,     // outputs cannot be written faster than memory allows
};
inline constexpr std::array defence_names = {
    std::string_view("check_poison"),    std::string_view("comparison"),      std::string_view("declared_checks"),
    std::string_view("error_rule"),      std::string_view("finite_fill"),     std::string_view("forbidden_calls"),
    std::string_view("fresh_values"),    std::string_view("full_size"),       std::string_view("guards"),
    std::string_view("hang_memory"),     std::string_view("influence"),       std::string_view("input_digests"),
    std::string_view("nan_pattern"),     std::string_view("own_clock"),       std::string_view("patterns"),
    std::string_view("sanitizer"),       std::string_view("secret_weights"),  std::string_view("siblings"),
    std::string_view("slices"),          std::string_view("slope"),           std::string_view("state"),
    std::string_view("task_gate"),       std::string_view("timed_outputs"),   std::string_view("timed_poison"),
    std::string_view("write_floor"),
};

// True, always: the program has no switch for any of these. A test that must show what a defence is worth links a
// definition of its own in place of this one.
bool defended(Defence defence);

}  // namespace cudal1::base
