// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_options.hpp"

#include "base/clock.hpp"
#include "judge/gpu_lock.hpp"
#include "pytorch/scales.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace cudal1::cli {

// Tasks of one sweep that share GPUs. Their judgings take turns by the GPU's lock; here is who may have memory of it at the
// same time: as many as fit by what they may take.
class GpuShares {
 public:
  // Held for as long as a task is on its GPU; left with the last copy. Must not outlive the shares.
  struct Place {
    std::shared_ptr<void> held;
    std::size_t pytorch_bytes = 0;   // that PyTorch may take; 0: all
  };

  pytorch::Scales scales;   // for their tasks

  // Waits for the others on the device, for all of them where it is to be alone. `task_bytes`: of inputs, weights, outputs and what is
  // made meanwhile; 0: not known. Throws base::Error(resumable) when it is stopped.
  Place enter(const DeviceChoice& choice, std::size_t task_bytes, const std::stop_token& stop);

  // For what uses a shared GPU outside a judging and takes no times: nothing where it is not shared.
  static std::unique_ptr<judge::GpuTurn> turn(const DeviceChoice& choice);

 private:
  struct Gpu {
    std::size_t taken = 0;             // bytes, by those on it
    std::map<std::uint64_t, base::Seconds> waiting;   // since when; who came first is first before long, so that many small ones do not keep out a large one
    std::uint64_t next = 0;
  };
  void leave(const std::string& device, std::size_t bytes);

  std::mutex mutex_;
  std::condition_variable_any left_;
  std::map<std::string, Gpu> gpus_;
};

}  // namespace cudal1::cli
