// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// A line whose first words are `//@`, outside block comments and raw strings.
struct DirectiveLine {
  std::string text;        // after the `//@`
  int line = 0, column = 0;  // of the text's first byte
  bool continued = false;  // ends in a backslash, so that C++ takes the next line for a comment too
};
std::vector<DirectiveLine> directive_lines(std::string_view source);

// The word that says what the line is: letters and digits, or a single symbol such as `}` or `#`.
struct FirstWord {
  std::string text;
  int column = 0;
  std::size_t end = 0;  // in DirectiveLine::text
};
FirstWord first_word(const DirectiveLine& line);

}  // namespace cudal1::kernel
