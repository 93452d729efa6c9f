// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"

#include <string>
#include <string_view>

namespace cudal1::report {

// Drawings of the HTML page, each with its heading; empty where there is nothing to draw.

// Which exemplars every variant was shown, round by round; the winner's ancestors are marked.
std::string lineage_html(const store::Run& run);

// When models answered and what judging took, from the journal, whose times of day are whole seconds; then what each cost.
std::string time_line_html(const store::Run& run);

// The time of each member that was tried over the values of its tunables, for the best families.
std::string tunables_html(const store::Run& run);

// A drawing and the room that its labels take.
struct Frame {
  double width, height, left, right, top, bottom;
};

// A drawing that is moved sideways where the page is narrower than it can be read.
std::string framed(double width, double height, std::string_view label, const std::string& drawn);

}  // namespace cudal1::report
