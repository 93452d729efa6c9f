// SPDX-License-Identifier: Apache-2.0
#include "verify/allclose.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cudal1::verify {

double allclose_tolerance(const std::vector<double>& reference, const std::vector<double>& got) {
  double tolerance = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double needed = std::fabs(got[i] - reference[i]) / (1 + std::fabs(reference[i]));
    if (std::isnan(needed)) return HUGE_VAL;
    tolerance = std::max(tolerance, needed);
  }
  return tolerance;
}

}  // namespace cudal1::verify
