// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cudal1::base {

// Columns that a UTF-8 text takes on a terminal. Code points are counted; what this program shows has no wide characters.
std::size_t display_width(std::string_view text);

// The start of a text that takes at most `width` columns.
std::string_view fitted(std::string_view text, std::size_t width);

}  // namespace cudal1::base
