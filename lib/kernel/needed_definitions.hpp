// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cudal1::kernel {

// Names that a build must have defined (`-DGPU`) for the source to compile: code outside of `#ifdef GPU` uses macros that are
// defined within it alone.
std::vector<std::string> needed_definitions(const std::string& source);

}  // namespace cudal1::kernel
