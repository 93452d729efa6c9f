// SPDX-License-Identifier: Apache-2.0
#include "bench/decision.hpp"

namespace cudal1::bench {

namespace {

constexpr double target_half_width = 0.005;

}  // namespace

std::optional<outcome::Verdict> decide(const Estimate& estimate, Purpose purpose, bool last) {
  using outcome::Verdict;
  if (estimate.low() > margin) return Verdict::faster;
  if (estimate.high() < -margin) return Verdict::slower;
  if (estimate.half_width <= target_half_width && estimate.low() > -margin && estimate.high() < margin)
    return Verdict::equivalent;
  if (purpose == Purpose::screening && estimate.high() < margin) return Verdict::dropped;
  if (last) return Verdict::inconclusive;
  return std::nullopt;
}

outcome::Verdict decide_prediction(const Estimate& estimate) {
  using outcome::Verdict;
  if (estimate.low() > 0) return Verdict::faster;
  if (estimate.high() < 0) return Verdict::slower;
  return Verdict::equivalent;
}

}  // namespace cudal1::bench
