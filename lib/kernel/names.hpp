// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::kernel {

// What a name is reserved for ("a word of C++", "a variable of every kernel"), or an empty view when it is free.
std::string_view reserved_for(const std::string& name);

}  // namespace cudal1::kernel
