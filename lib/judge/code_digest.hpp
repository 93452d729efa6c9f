// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/messages.hpp"

#include <string>

namespace cudal1::judge {

// Equal for answers that run the same machine code in the same way: the instructions of the kernels that are launched, what they call, their resources, and all plans.
// Names of kernels and buffers, layout of the source and debug information do not matter. Two kernels that differ may never be called equal, so where in
// doubt they differ. 64 hexadecimal digits. Empty without machine code, and for code whose work depends on names and on places in memory: with variables
// (`__device__`, `__constant__`, strings, tables such as that of sinf()), constants that the compiler put into memory, or relocations.
std::string code_digest(const Executable& executable);

}  // namespace cudal1::judge
