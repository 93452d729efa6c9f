// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/precision.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cudal1::reference {

// What the floating inputs of one trial look like. Inputs whose declared distribution is a pattern of its own (zeros,
// ones, arange, randint, a file) keep it in every trial, but for the one element that `influence` moves.
enum class Pattern {
  declared,
  sibling,       // as `declared` with the same seed in the outermost elements, fresh inside
  influence,     // as `declared`, but one element of every floating input is half as large again
  normal,        // N(0, 1)
  symmetric,     // uniform in [-1, 1)
  positive,      // uniform in [0, 1): rounding that always goes one way adds up
  wide,          // signs and magnitudes 2^-10 … 2^10
  outliers,      // N(0, 1), about every hundredth element of one input a thousand times larger
  sparse,        // N(0, 1), every other element 0
  near_one,      // 1 + r·2^-12: operands of fewer bits see 1
  integers,      // small integers: sums and products of them are exact, so dropped or doubled work shows
  wide_integers, // 1 mod 4 in 2049 … 4093 in one input, 0 or 1 in the others: exact, unless operands lose bits
};
std::string_view name(Pattern pattern);

struct Trial {
  Pattern pattern = Pattern::declared;
  std::uint64_t seed = 0;
  std::size_t turn = 0;  // wide_integers, outliers: which of the floating inputs is the special one, counted round
};

// The trials at one check size, from one secret seed: the declared distribution with `declared` different seeds, and
// every pattern, or, where other sizes have seen them all, only some. Those that only show rounded operands are left out
// where the precision class allows these.
std::vector<Trial> trials(std::uint64_t seed, int declared, bool every_pattern, outcome::Precision precision);

using Bytes = std::vector<std::byte>;

// The bytes of each of the task's buffers, in order of declaration; empty for outputs. Integer-valued inputs stay small
// enough that a sum over `workload`'s longest extent is exact in the buffer's type.
std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial);

}  // namespace cudal1::reference
