// SPDX-License-Identifier: Apache-2.0
#include "status_line.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// Cut to `columns`, counting code points; what is shown here has no wide characters.
std::string fitted(std::string_view text, int columns) {
  int used = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++used > columns) break;
  return std::string(text.substr(0, end));
}

}  // namespace

StatusLine::StatusLine(const Console& console) : console_(console), repaints_(console.terminal(stderr)) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::show(std::string_view text) {
  if (!repaints_) return;
  shown_ = fitted(base::printable(text), console_.width(stderr) - 1);
  fmt::print(stderr, "\r\033[K{}", shown_);
  std::fflush(stderr);
}

void StatusLine::keep(std::string_view text) {
  if (!shown_.empty()) fmt::print(stderr, "\r\033[K");
  fmt::print(stderr, "{}\n", text);
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
