// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/messages.hpp"

#include <string>

namespace cudal1::judge {

// Equal for answers that run the same machine code in the same way: the instructions of the kernels that are launched, what they call, their resources, and all plans.
// Names of kernels and buffers, layout of the source and debug information do not matter. Two kernels that differ may never be called equal, so where in
// doubt they differ: variables (`__device__`, `__constant__`, strings, tables such as that of sinf(), and every `constexpr` of a file, which NVRTC keeps)
// and relocations count with their names. 64 hexadecimal digits. Empty without machine code, and where a plan copies.
std::string code_digest(const Executable& executable);

}  // namespace cudal1::judge
