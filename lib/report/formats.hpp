// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/document.hpp"
#include "report/report.hpp"

#include <string>

namespace cudal1::report {

// One function per format; report.cpp lists them.
std::string terminal(const store::Run& run, const Style& style);
std::string markdown(const store::Run& run, const Style& style);
std::string html(const store::Run& run, const Style& style);
std::string json(const store::Run& run, const Style& style);
std::string csv(const store::Run& run, const Style& style);    // a row for each variant
std::string trace(const store::Run& run, const Style& style);  // when what was done, for Perfetto and chrome://tracing

// Blocks as a terminal shows them.
std::string draw_for_terminal(const Document& document, const Style& style);

// The chart as one self-contained SVG element.
std::string draw_svg(const ScoreChart& chart);
std::string draw_svg(const Roofline& roofline);

}  // namespace cudal1::report
