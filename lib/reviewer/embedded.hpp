// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace cudal1::reviewer {

// A file of tests/cheats/rows as it was when the program was built; empty when there is no such file.
std::optional<std::string_view> embedded_text(std::string_view name);

// The names of these files, in order.
std::vector<std::string_view> embedded_names();

}  // namespace cudal1::reviewer
