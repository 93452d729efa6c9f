// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"

#include <string>

namespace cudal1::compile {

// What a request is compiled for: its own architecture, or of compute capability 9.0 the target with the features that no other GPU has
// ("sm_90a") where the source uses them. Code for it runs on 9.0 alone.
std::string target_of(const Request& request);

}  // namespace cudal1::compile
