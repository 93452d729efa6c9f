// SPDX-License-Identifier: Apache-2.0
#include "outcome/speedup_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::outcome {

std::string text(const Speedup& speedup) {
  const double half = std::max((speedup.high - speedup.low) / 2, 1e-4);
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 3);
  return fmt::format("{:.{}f}x [{:.{}f}, {:.{}f}]", speedup.value, digits, speedup.low, digits, speedup.high, digits);
}

}  // namespace cudal1::outcome
