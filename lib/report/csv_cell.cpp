// SPDX-License-Identifier: Apache-2.0
#include "report/csv_cell.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::report {

namespace {

// A spreadsheet takes a cell that begins like this for a formula.
bool looks_like_a_formula(std::string_view text) { return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos; }

}  // namespace

std::string csv_words(std::string_view text) {
  std::string out = "\"";
  if (looks_like_a_formula(text)) out += '\'';
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return out + '"';
}

std::string csv_words(const std::vector<std::string>& list) { return csv_words(fmt::format("{}", fmt::join(list, "; "))); }

std::string csv_number(double value) { return value == 0 || !std::isfinite(value) ? "" : fmt::format("{:.6g}", value); }

}  // namespace cudal1::report
