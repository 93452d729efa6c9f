// SPDX-License-Identifier: Apache-2.0
#include "gpu_shares.hpp"

#include "base/error.hpp"
#include "judge/gpu_lock.hpp"

#include <utility>

namespace cudal1::cli {

namespace {

// Copies for the truth in double precision with every step of a normalization, sets for every baseline and what the allocators
// keep (a GroupNorm of 0.5 GiB took 10 GiB on an H200); and contexts.
constexpr std::size_t copies = 10, contexts = std::size_t{4} << 30;

}  // namespace

GpuShares::Place GpuShares::enter(const DeviceChoice& choice, std::size_t task_bytes, const std::stop_token& stop) {
  if (choice.sharers < 2 || choice.facts.simulated) return nullptr;
  const bool alone = task_bytes == 0 || copies * task_bytes + contexts > choice.facts.memory_bytes / static_cast<std::size_t>(choice.sharers);
  std::unique_lock lock(mutex_);
  Gpu& gpu = gpus_[choice.device];
  gpu.waiting_alone += alone ? 1 : 0;
  const bool may = left_.wait(lock, stop, [&] { return !gpu.taken && (alone ? gpu.inside == 0 : gpu.waiting_alone == 0); });
  gpu.waiting_alone -= alone ? 1 : 0;
  if (!may) throw base::Error(base::Fault::resumable, "it was interrupted while it waited for its GPU");
  gpu.taken = alone;
  ++gpu.inside;
  return {nullptr, [this, device = choice.device, alone](void*) { leave(device, alone); }};
}

void GpuShares::leave(const std::string& device, bool alone) {
  {
    const std::lock_guard lock(mutex_);
    Gpu& gpu = gpus_[device];
    --gpu.inside;
    if (alone) gpu.taken = false;
  }
  left_.notify_all();
}

std::unique_ptr<base::FileLock> GpuShares::turn(const DeviceChoice& choice) {
  if (choice.sharers < 2 || choice.facts.simulated) return nullptr;
  return std::make_unique<base::FileLock>(judge::gpu_lock(choice.facts.uuid));
}

}  // namespace cudal1::cli
