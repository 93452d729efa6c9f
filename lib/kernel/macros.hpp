// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::kernel {

// The source with its own #define macros put in, for reading alone.
std::string with_macros(std::string_view source);

}  // namespace cudal1::kernel
