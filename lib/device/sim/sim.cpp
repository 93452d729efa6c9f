// SPDX-License-Identifier: Apache-2.0
#include "sim/sim.hpp"

#include "base/parallel.hpp"
#include "sim/operation.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>
#include <cstring>

namespace cudal1::sim {

SimDevice::SimDevice(const Options& options) : facts_(options.own ? *options.own : gpu(options.gpu)), seed_(options.seed) {
  if (options.scattered) memory_->scatter(options.seed);
  threads_ = options.threads > 0 ? options.threads : static_cast<int>(base::cores());
}

Allocation& SimDevice::allocation(const device::Region& region) {
  Allocation* found = memory_->by_id(region.memory);
  if (!found || region.offset > found->bytes || region.bytes > found->bytes - region.offset) std::abort();  // misuse by the caller
  return *found;
}

device::MemoryId SimDevice::allocate(std::size_t bytes, const std::string& name) { return memory_->allocate(bytes, name).id; }
void SimDevice::release(device::MemoryId memory) { memory_->release(memory); }

void SimDevice::write(const device::Region& region, std::span<const std::byte> bytes) {
  memory_->write(allocation(region), region.offset, bytes.first(std::min(bytes.size(), region.bytes)));
}

void SimDevice::read(const device::Region& region, std::span<std::byte> bytes) {
  const Allocation& from = allocation(region);
  std::memcpy(bytes.data(), from.host + region.offset, std::min(bytes.size(), region.bytes));
}

void SimDevice::copy(const device::Region& from, const device::Region& to) {
  Allocation &source = allocation(from), &target = allocation(to);
  const std::size_t bytes = std::min(from.bytes, to.bytes);
  std::memmove(target.host + to.offset, source.host + from.offset, bytes);
  memory_->copy_flags(source, from.offset, target, to.offset, bytes);
}

void SimDevice::poison(const device::Region& region, std::uint32_t word) {
  memory_->poison(allocation(region), region.offset, region.bytes, word);
}

std::optional<std::vector<device::Sample>> SimDevice::time(const device::TimingRequest&) { return std::nullopt; }

std::unique_ptr<device::Device> open(const Options& options) { return std::make_unique<SimDevice>(options); }

std::vector<std::string> instructions() {
  std::vector<std::string> names;
  for (const auto& [name, operation] : operations())
    if (name.front() != '_' && !name.starts_with("meant.")) names.push_back(name);
  for (const char* name : {"ld", "st", "atom", "red", "bra", "call", "ret", "exit", "bar", "barrier", "membar", "fence", "cp.async", "trap",
                           "nanosleep", "mbarrier", "mma.sync", "wmma", "ldmatrix", "stmatrix", "set"})
    names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cudal1::sim
