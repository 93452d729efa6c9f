// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cudal1::cuda {

// What the driver shows; empty with `problem` set when there is no driver or no GPU.
struct Inventory {
  std::vector<outcome::DeviceFacts> devices;
  std::string driver;   // library path and version
  std::string problem;  // one sentence with the next step
};
Inventory inventory();

struct Options {
  bool exact_allocations = false;  // each buffer its own allocation of exactly its size, for a sanitizer's sake
};

// Opens GPU `index` through the driver API, which is loaded at run time. Throws base::Error(no_device).
std::unique_ptr<device::Device> open(int index, const Options& options = {});

}  // namespace cudal1::cuda
