// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include "cuda/driver.hpp"

namespace cudal1::cuda {

// What the driver says about a GPU; the memory rate is left for a measurement.
outcome::DeviceFacts read_facts(CUdevice device);

}  // namespace cudal1::cuda
