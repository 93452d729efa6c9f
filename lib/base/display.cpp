// SPDX-License-Identifier: Apache-2.0
#include "base/display.hpp"

#include <algorithm>

namespace cudal1::base {

namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string_view fitted(std::string_view text, std::size_t width) {
  std::size_t used = 0, end = 0;
  for (; end < text.size(); ++end)
    if (starts_character(text[end]) && ++used > width) break;
  return text.substr(0, end);
}

}  // namespace cudal1::base
