// SPDX-License-Identifier: Apache-2.0
#include "gpu_shares.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::cli {

namespace {

// Copies for the truth in double precision, sets for every baseline and what the allocators keep; and contexts. Of large tasks the truth is
// taken on slices. At their peak a task of 22 GiB had 40 GiB of an H100 and one of 3 GiB 20 GiB, with all that was worth keeping. What a
// task takes beyond its share it has of what nobody uses, and where that is too little it is tried alone.
constexpr std::size_t copies = 4, copies_of_large = 2, slices = std::size_t{8} << 30, contexts = std::size_t{3} << 30;
constexpr std::size_t waiting = std::size_t{5} << 28;   // what PyTorch of a task that waits holds
constexpr base::Seconds patience{20};                   // of a large task: for as long smaller ones may have the room beside others before it
constexpr double pytorch_share = 0.75;                  // of a task's memory; workers and sanitizers have the rest

}  // namespace

GpuShares::Place GpuShares::enter(const DeviceChoice& choice, std::size_t task_bytes, const std::stop_token& stop) {
  if (choice.sharers < 2 || choice.facts.simulated) return {};
  const std::size_t idle = waiting * static_cast<std::size_t>(choice.sharers);
  const std::size_t all = choice.facts.memory_bytes - std::min(choice.facts.memory_bytes / 2, idle);
  const std::size_t usual = std::min(copies * task_bytes, copies_of_large * task_bytes + slices) + contexts;
  const std::size_t wanted = task_bytes == 0 || choice.alone ? all : std::min(all, usual);
  std::unique_lock lock(mutex_);
  Gpu& gpu = gpus_[choice.device];
  const std::uint64_t number = gpu.next++;
  gpu.waiting.emplace(number, base::now());
  const bool may = left_.wait(lock, stop, [&] {
    const auto& [first, since] = *gpu.waiting.begin();
    if (gpu.taken != 0 && gpu.taken + wanted > all) return false;
    return number == first || (gpu.taken != 0 && base::now() - since < patience);
  });
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
