// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_file.hpp"

#include <string>

namespace cudal1::families {

// Gives a file the device code of products on the tensor cores, in the precision of its variant, and says that `kernel`
// makes use of it for `factors`.
void use_tensor_cores(KernelFile& file, const std::string& kernel, const std::string& factors);

// The same of a product of factors in 16 bits.
void use_half_tensor_cores(KernelFile& file, const std::string& kernel, tensor::Dtype dtype);

// How many tiles of 32 depths are on their way at once, for tiles of `rows` and `columns`: an expression of tunables of 128 at
// most. A block's shared memory has room for them.
std::string tile_stages(const std::string& rows, const std::string& columns, const schedule::Machine& machine);

}  // namespace cudal1::families
