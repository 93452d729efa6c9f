// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/verdict.hpp"

#include <string>

namespace cudal1::outcome {

// "1.002x [0.998, 1.006]": as many digits as the interval makes meaningful, three after the point at most.
std::string text(const Speedup& speedup);

}  // namespace cudal1::outcome
