// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/kernel_source.hpp"
#include "kernel/parameter_type.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// Gives `__constant__` variables of plain types, which only host code fills, values of their own: a plan has no copy to a
// symbol, and zeros make most kernels compute nothing. `expanded` is the code with its macros put in; `filled` gets the
// names. Large arrays and those with an initialiser stay as they are.
std::string with_constant_values(const std::string& code, const KernelSource& expanded, const TypeNames& aliases, std::vector<std::string>& filled);

}  // namespace cudal1::kernel
