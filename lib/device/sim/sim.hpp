// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::sim {

struct Options {
  std::string gpu = "H200";  // which GPU's times are predicted: a name of gpu_names()
  int threads = 0;           // 0: every core
  std::uint64_t seed = 0;    // of the blocks that a prediction executes, and of addresses
  bool scattered = true;     // false: addresses in a row, in the range that HostedDevice names
  std::optional<outcome::DeviceFacts> own = std::nullopt;  // a record of the user's, in place of `gpu`
};

// The simulator: executes PTX on the CPU with checks and counters. Throws base::Error(usage) for an unknown GPU.
std::unique_ptr<device::Device> open(const Options& options);

// What a shadow is: the value as no operation rounds it; the same with a random error in place of each rounding; or how many terms
// the value is the sum of.
enum class ShadowMode : std::uint8_t { exact, disturbed, terms };

// A run of a plan with a shadow beside every floating value (shadow.hpp).
struct ShadowRun {
  device::RunResult result;
  struct Output {
    std::vector<double> values;        // of a buffer that the plan writes and that holds floats, else empty
    std::size_t shadowed = 0;          // of these, have a shadow; the others are the values themselves
  };
  std::vector<Output> outputs;         // one per buffer of the plan
  std::uint64_t turned = 0;            // comparisons of floats, and conversions to integers, that shadows would have decided otherwise
};
ShadowRun run_shadowed(device::Device& simulator, const device::BoundPlan& plan, ShadowMode mode, std::uint64_t seed,
                       std::uint64_t instruction_budget = 0);

std::vector<std::string> gpu_names();
const outcome::DeviceFacts& gpu(const std::string& name);  // throws base::Error(usage) with the nearest name
bool same_gpu_name(const std::string& a, const std::string& b);  // but for case, spaces, "_" and "-"
bool fitted(const outcome::DeviceFacts& gpu);              // whether the model of time was fitted to times measured on it
bool compared(const outcome::DeviceFacts& gpu);            // whether its predictions were compared with such times, fitted or not
std::vector<std::string> instructions();                   // what it knows, for `devices --verbose`

}  // namespace cudal1::sim
