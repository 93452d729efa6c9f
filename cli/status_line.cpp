// SPDX-License-Identifier: Apache-2.0
#include "status_line.hpp"

#include "base/display.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::cli {

StatusLine::StatusLine(const Console& console) : console_(console), repaints_(console.terminal(stderr)) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::show(std::string_view text) {
  if (!repaints_) return;
  shown_ = base::fitted(in_locale(base::printable(text)), static_cast<std::size_t>(console_.width(stderr) - 1));
  fmt::print(stderr, "\r\033[K{}", shown_);
  std::fflush(stderr);
}

void StatusLine::keep(std::string_view text) {
  if (!shown_.empty()) fmt::print(stderr, "\r\033[K");
  fmt::print(stderr, "{}\n", in_locale(text));
  if (!shown_.empty()) fmt::print(stderr, "{}", shown_);
  std::fflush(stderr);
}

void StatusLine::clear() {
  if (shown_.empty()) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_.clear();
}

}  // namespace cudal1::cli
