// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"
#include "record/recording.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::record {

// Which launches a task is made of. Nothing chosen: the largest launch of every kernel is kept.
struct Choice {
  std::vector<std::string> kernels;        // by name, with or without namespaces and template arguments
  std::size_t first = 0, last = 0;         // launches by number; 0: not by number
  bool stop = false;                       // the program ends as soon as they are recorded

  bool any() const { return !kernels.empty() || first != 0; }
};

bool names_kernel(const std::string& wanted, const std::string& kernel);

struct SimulatedOptions {
  std::string gpu = "H200";
  std::optional<outcome::DeviceFacts> own_gpu;
  int threads = 0;                         // 0: every core
  Choice choice;
  std::string source;                      // whose lines findings name
  std::size_t most_kept_bytes = std::size_t{1} << 30;
  std::function<void(const std::string&)> say;  // one line, as it happens
};

// Serves one process of a program whose CUDA runtime is ours, over a connected socket, until it ends. Its kernels run in
// the simulator. What is recorded is added to `recording`.
void serve_simulated(int socket, const SimulatedOptions& options, Recording& recording);

}  // namespace cudal1::record
