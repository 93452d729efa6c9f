// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/estimate.hpp"
#include "outcome/verdict.hpp"

#include <array>
#include <optional>

namespace cudal1::bench {

// The only moments at which a comparison may be looked at. Looking after every pair at 95 % makes false claims in a
// third of all comparisons of equal kernels; these five at 99 % each stay within 5 % together.
inline constexpr std::array<int, 5> looks{6, 12, 24, 48, 96};
inline constexpr double look_alpha = 0.05 / looks.size();

// The ratio below which a difference is not called one, as a logarithm: 1 %.
inline constexpr double margin = 0.00995033085316808;

enum class Purpose {
  screening,     // may be dropped as soon as it cannot be worth keeping
  final_,
};

// The verdict that an estimate allows; empty: take more pairs. With `last` an open question is inconclusive.
std::optional<outcome::Verdict> decide(const Estimate& estimate, Purpose purpose, bool last);

// For a predicted time: which side of 1 the whole interval lies on, else equivalent.
outcome::Verdict decide_prediction(const Estimate& estimate);

}  // namespace cudal1::bench
