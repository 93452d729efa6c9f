// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudal1::compile {

// The source with the text of hopper.cuh in place of its #include, so that it builds where only CUDA's headers are.
std::string with_own_headers(const std::string& source);

}  // namespace cudal1::compile
