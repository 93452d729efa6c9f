// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/precision.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cudal1::reference {

// What the inputs of one trial look like. Floating inputs that are declared normal or uniform are called plain here; others
// (zeros, ones, arange, randint, a file) keep what they are declared, but for what `influence`, `constants` and
// `full_width` do to them. "As declared" is with the trial's own seed. Where a trial holds patterns beside each other, the
// outermost elements of a buffer are as declared, so that no look at its ends tells which trial this is.
enum class Pattern {
  declared,
  sibling,        // as `declared` with the same seed in the outermost elements, fresh inside
  influence,      // as `declared`, but one element of every floating input is half as large again
  normal,         // N(0, 1)
  positive,       // uniform in [0, 1): rounding that always goes one way adds up
  wide,           // signs and magnitudes 2^-10 … 2^10
  outliers,       // N(0, 1), about every hundredth element of one input a thousand times larger
  near_one,       // 1 + r·2^-12: operands of fewer bits see 1
  integers,       // small integers: sums and products of them are exact, so dropped or doubled work shows
  wide_integers,  // 1 mod 4 in 2049 … 4093 in one input, 0 or 1 in the others: exact, unless operands lose bits
  stray,          // as `declared`, but about one element in 24 is 0, wide, or as large as 1000
  lone,           // as `declared`, but one element of every plain input is about 100, -100 or 16, and of integers as large as in `full_width`:
                  // no look at a sample of them meets it
  bands,          // along one axis every index has a pattern of its own: as declared, normal, positive, wide, outliers, zeros
  alone,          // one plain input normal, the others as declared
  constants,      // inputs that are declared zeros, ones or arange, moved in every element
  spotlight,      // plain inputs 0 but at one index of an output's axis, one of those where the outputs are small
  magnitudes,     // as declared, but along one axis every index is scaled by a power of two of its own, 2^-30 … 1
  meets_zero,     // one element 2^20 or 2^24 times as large as its row, which meets zeros of another input
  tiny,           // half as declared, half small down to subnormals, and both zeros
  infinite,       // as declared, but about one element in 24 is an infinity
  not_a_number,   // as declared, but some elements are NaN
  full_width,     // integers that fill their type, as far as sums and products of them stay exact; all of them far below 0; or one of two factors alone
  mixed,          // as stray, and where the line allows it NaN, infinities and numbers up to 2^32 as well
  repeats,        // integers and truth values: along one axis some indices hold one value, the least or the largest or few; arange shuffled
};
std::string_view name(Pattern pattern);

struct Trial {
  Pattern pattern = Pattern::declared;
  std::uint64_t seed = 0;
  // Which of several that a pattern may be about, counted round: the special input of outliers, wide_integers, alone,
  // constants (0: all of them) and not_a_number, the axis of bands, spotlight, magnitudes and repeats, the pair of meets_zero; 1 of mixed
  // has no NaN, which a task's own kernel may mistake for a number.
  std::size_t turn = 0;
  bool half = false;   // nothing of bands is as large as 2^13: a product of two such numbers is more than float16 holds
};

// The trials at one size, from one secret seed: the declared distribution with `declared` different seeds, and every pattern
// that says something about this task, or, where other sizes have seen them all, only some. Those that only show rounded
// operands are left out where the precision class allows these.
std::vector<Trial> trials(const task::Task& task, const task::Workload& workload, std::uint64_t seed, int declared, bool every_pattern,
                          outcome::Precision precision);

using Bytes = std::vector<std::byte>;

// The bytes of each of the task's buffers, in order of declaration; empty for outputs. Integer-valued inputs stay small
// enough that a sum over `workload`'s longest extent is exact in the buffer's type. Deterministic in its arguments.
std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial);

}  // namespace cudal1::reference
