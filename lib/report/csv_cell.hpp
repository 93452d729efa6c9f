// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::report {

// Cells of a CSV file: words are quoted, on one line, and no formula for a spreadsheet; 0 and what is no number are empty.
std::string csv_words(std::string_view text);
std::string csv_words(const std::vector<std::string>& list);
std::string csv_number(double value);

}  // namespace cudal1::report
