// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::cuda_code {

// Parameters of a generated kernel are named after what the task passes, and a task may use any name. So until a
// kernel's text is complete its parameters stand in it marked, alone or as the front of a longer word ("X_line").
std::string marked(const std::string& parameter);

// `code` with the marks gone: where a marked name would become some other word of the code, it gets underscores.
std::string without_marks(const std::string& code);

// The code in pieces: words, marked ones whole, and what stands between two words.
std::vector<std::pair<std::string_view, bool>> words_of(std::string_view code);

// A marked word in three parts, the parameter without its marks; nothing for other words.
struct MarkedWord {
  std::string front, parameter, back;
};
std::optional<MarkedWord> parts_of(std::string_view word);

}  // namespace cudal1::cuda_code
