// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::report {

struct Style {
  bool colour = false;  // terminal only
  int width = 0;        // columns of the terminal; 0: as many as the text needs
};

// The names of all formats: "terminal", "markdown", "html", "json", "csv", "trace".
std::vector<std::string> formats();

// A run in one format. It holds no time of day and no duration but in JSON's `begun` and `ended`, so that two equal
// runs have equal reports. Throws base::Error(usage) for an unknown format, with the nearest name.
std::string render(const store::Run& run, std::string_view format, const Style& style = {});

}  // namespace cudal1::report
