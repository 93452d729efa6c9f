// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cudal1::reference {

// What the floating inputs of one trial look like. Inputs whose declared distribution is a pattern of its own (zeros,
// ones, arange, randint, a file) keep it in every trial.
enum class Pattern {
  declared,
  normal,        // N(0, 1)
  symmetric,     // uniform in [-1, 1)
  wide,          // signs and magnitudes 2^-10 … 2^10
  integers,      // small integers: sums and products of them are exact, so dropped or doubled work shows
};
std::string_view name(Pattern pattern);

struct Trial {
  Pattern pattern = Pattern::declared;
  std::uint64_t seed = 0;
};

// The trials at each check size, from one secret seed: every pattern, and the declared distribution with `declared`
// different seeds.
std::vector<Trial> trials(std::uint64_t seed, int declared);

using Bytes = std::vector<std::byte>;

// The bytes of each of the task's buffers, in order of declaration; empty for outputs. Integer-valued inputs stay small
// enough that a sum over `workload`'s longest extent is exact in the buffer's type.
std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial);

}  // namespace cudal1::reference
