// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/sweep.hpp"

#include <string>

namespace cudal1::report {

// Private to the part: formats of a sweep that are for other programs.
std::string sweep_chart(const Sweep& sweep);   // SVG
std::string sweep_csv(const Sweep& sweep);     // RFC 4180, one line for each row

}  // namespace cudal1::report
