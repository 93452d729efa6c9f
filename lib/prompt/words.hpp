// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::prompt {

std::string milliseconds(double ms);   // "0.131 ms", "4.2 µs"
std::string bytes(double count);       // "48 KiB", "141 GB": binary up to MiB as CUDA counts, decimal above
std::string number(double value);      // as few digits as tell it: "0.25", "1.3e-05", "nan"

// A Markdown code block whose fence is longer than any run of backticks in the text; ends with a newline.
std::string fenced(std::string_view text, std::string_view language);

}  // namespace cudal1::prompt
