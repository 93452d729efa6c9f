// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_options.hpp"

#include "base/file.hpp"
#include "pytorch/scales.hpp"

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace cudal1::cli {

// Tasks of one sweep that share GPUs. Their judgings take turns by the GPU's lock; here is who may have memory of it at the
// same time: a task that may take more than its share has the GPU alone.
class GpuShares {
 public:
  // Held for as long as a task is on its GPU; left with the last copy. Must not outlive the shares.
  using Place = std::shared_ptr<void>;

  pytorch::Scales scales;   // for their tasks

  // Waits for the others on the device. `task_bytes`: of inputs, weights, outputs and what is made meanwhile; 0: not
  // known. Throws base::Error(resumable) when it is stopped.
  Place enter(const DeviceChoice& choice, std::size_t task_bytes, const std::stop_token& stop);

  // For what uses a shared GPU outside a judging: nothing where it is not shared.
  static std::unique_ptr<base::FileLock> turn(const DeviceChoice& choice);

 private:
  struct Gpu {
    int inside = 0, waiting_alone = 0;
    bool taken = false;   // by one that has it alone
  };
  void leave(const std::string& device, bool alone);

  std::mutex mutex_;
  std::condition_variable_any left_;
  std::map<std::string, Gpu> gpus_;
};

}  // namespace cudal1::cli
