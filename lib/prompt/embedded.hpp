// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace cudal1::prompt {

// A file of prompts/ as it was when the program was built; empty when there is no such file.
std::optional<std::string_view> embedded_text(std::string_view name);

}  // namespace cudal1::prompt
