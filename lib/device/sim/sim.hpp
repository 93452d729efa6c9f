// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::sim {

struct Options {
  std::string gpu = "H200";  // which GPU's times are predicted: a name of gpu_names()
  int threads = 0;           // 0: every core
  std::uint64_t seed = 0;    // of the blocks that a prediction executes, and of addresses
  bool scattered = true;     // false: addresses in a row, in the range that HostedDevice names
};

// The simulator: executes PTX on the CPU with checks and counters. Throws base::Error(usage) for an unknown GPU.
std::unique_ptr<device::Device> open(const Options& options);

std::vector<std::string> gpu_names();
const outcome::DeviceFacts& gpu(const std::string& name);  // throws base::Error(usage) with the nearest name
std::vector<std::string> instructions();                   // what it knows, for `devices --verbose`

}  // namespace cudal1::sim
