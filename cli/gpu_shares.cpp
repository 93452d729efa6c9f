// SPDX-License-Identifier: Apache-2.0
#include "gpu_shares.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::cli {

namespace {

// Copies for the truth in double precision, sets for every baseline and what the allocators keep; and contexts. At their peak tasks took
// as much and half as much again on an H100, though not at the same time. Where that is too little the task is tried alone.
constexpr std::size_t copies = 4, contexts = std::size_t{3} << 30;
constexpr std::size_t waiting = std::size_t{5} << 28;   // what PyTorch of a task that waits holds
constexpr double pytorch_share = 0.75;                  // of a task's memory; workers and sanitizers have the rest

}  // namespace

GpuShares::Place GpuShares::enter(const DeviceChoice& choice, std::size_t task_bytes, const std::stop_token& stop) {
  if (choice.sharers < 2 || choice.facts.simulated) return {};
  const std::size_t idle = waiting * static_cast<std::size_t>(choice.sharers);
  const std::size_t all = choice.facts.memory_bytes - std::min(choice.facts.memory_bytes / 2, idle), wanted = task_bytes == 0 || choice.alone ? all : std::min(all, copies * task_bytes + contexts);
  std::unique_lock lock(mutex_);
  Gpu& gpu = gpus_[choice.device];
  const std::uint64_t number = gpu.next++;
  gpu.waiting.insert(number);
  const bool may = left_.wait(lock, stop, [&] { return number == *gpu.waiting.begin() && (gpu.taken == 0 || gpu.taken + wanted <= all); });
  gpu.waiting.erase(number);
  if (may) gpu.taken += wanted;
  left_.notify_all();   // for who comes after this one
  if (!may) throw base::Error(base::Fault::resumable, "it was interrupted while it waited for its GPU");
  return {{nullptr, [this, device = choice.device, wanted](void*) { leave(device, wanted); }},
          wanted == all ? 0 : static_cast<std::size_t>(pytorch_share * static_cast<double>(wanted))};
}

void GpuShares::leave(const std::string& device, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    gpus_[device].taken -= bytes;
  }
  left_.notify_all();
}

std::unique_ptr<judge::GpuTurn> GpuShares::turn(const DeviceChoice& choice) {
  if (choice.sharers < 2 || choice.facts.simulated) return nullptr;
  return std::make_unique<judge::GpuTurn>(judge::gpu_lock(choice.facts.uuid), judge::GpuTurn::Use::shared);
}

}  // namespace cudal1::cli
