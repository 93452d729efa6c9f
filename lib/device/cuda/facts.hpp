// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include "cuda/driver.hpp"

namespace cudal1::cuda {

// What the driver says about a GPU; the memory rate is left for a measurement.
outcome::DeviceFacts read_facts(CUdevice device);

// CUDAL1_GPU_MEMORY_GIB: the memory of a smaller card, to see what happens there; without it, no limit.
std::size_t memory_limit();

}  // namespace cudal1::cuda
