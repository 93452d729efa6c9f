// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"

#include <string>

#include <cuda.h>
#include <tl/expected.hpp>

namespace cudal1::cuda {

// The 128 bytes that tell the copy engine of a tensor at `address`, encoded by the driver. An error is one line.
tl::expected<CUtensorMap, std::string> encode(const kernel::TensorMapArgument& map, CUdeviceptr address);

}  // namespace cudal1::cuda
