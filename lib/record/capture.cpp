// SPDX-License-Identifier: Apache-2.0
#include "record/capture.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

double threads_of(const Launch& launch) {
  double threads = 1;
  for (std::size_t i = 0; i < 3; ++i) threads *= static_cast<double>(launch.grid[i]) * launch.block[i];
  return threads;
}

// A name without its template arguments and namespaces.
std::string bare(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

std::uint64_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

bool names_kernel(const std::string& wanted, const std::string& kernel) {
  return wanted == kernel || wanted == kernel.substr(0, kernel.find('<')) || wanted == bare(kernel);
}

Capture::Capture(const Choice& choice, std::size_t most_bytes, sim::HostedDevice& device, Recording& recording)
    : choice_(choice), most_bytes_(most_bytes), device_(device), recording_(recording) {}

bool Capture::wanted(const Launch& launch) const {
  if (complete_) return false;
  if (choice_.first != 0) return launch.number >= choice_.first && launch.number <= choice_.last;
  return open_ || std::any_of(choice_.kernels.begin(), choice_.kernels.end(), [&](const auto& name) { return names_kernel(name, launch.kernel); });
}

Launch Capture::describe(const sim::HostedDevice::Request& request) {
  Launch launch;
  launch.number = ++recording_.launches;
  launch.symbol = request.symbol;
  launch.kernel = kernel_name(request.symbol);
  launch.grid = request.grid;
  launch.block = request.block;
  launch.shared_bytes = request.shared_bytes;
  launch.cooperative = request.cooperative;
  reached_.clear();
  const auto kernel = device_.kernel(request.module, request.symbol);
  if (!kernel) return launch;
  for (const auto& parameter : kernel->parameters) {
    Parameter& one = launch.parameters.emplace_back();
    one.bytes.assign(request.parameters.begin() + static_cast<std::ptrdiff_t>(parameter.offset),
                     request.parameters.begin() + static_cast<std::ptrdiff_t>(parameter.offset + parameter.bytes));
    for (std::size_t offset = 0; offset + 8 <= one.bytes.size(); offset += 8) {
      const auto range = device_.range(word_at(one.bytes, offset));
      if (!range) continue;
      one.targets.push_back({offset, range->address, word_at(one.bytes, offset) - range->address});
      if (reached_.insert(range->address).second) launch.buffer_bytes += range->bytes;
    }
  }
  return launch;
}

// Predicting runs some of the blocks, so memory is put back.
double Capture::predict(const sim::HostedDevice::Request& request, const std::set<std::uint64_t>& reached) {
  std::set<std::uint64_t> places = reached;
  for (const auto& [name, range] : device_.variables(request.module)) places.insert(range.address);
  std::vector<std::pair<std::uint64_t, sim::HostedDevice::Snapshot>> saved;
  for (const std::uint64_t address : places) saved.emplace_back(address, device_.save(address));
  const double ms = device_.predict(request);
  for (const auto& [address, snapshot] : saved) device_.restore(address, snapshot);
  return ms;
}

void Capture::begin(Kept& kept, const sim::HostedDevice::Request& request) {
  for (const std::uint64_t address : reached_) {
    if (kept.memory.contains(address)) continue;
    Memory& memory = kept.memory[address];
    memory.address = address;
    memory.known_before = device_.all_written(address);
    memory.before = device_.save(address).bytes;
    for (std::size_t offset = 0; offset + 8 <= memory.before.size() && kept.suspicion.empty(); offset += 8) {
      const std::uint64_t word = word_at(memory.before, offset);
      if (word >= sim::HostedDevice::first_address && device_.range(word))
        kept.suspicion = fmt::format("{} holds addresses of device memory, which a task cannot pass", device_.range(address)->name);
    }
  }
  if (kept.launches.empty())
    for (const auto& [name, range] : device_.variables(request.module)) kept.variables.push_back({name, device_.save(range.address).bytes, {}});
  kept.ms += predict(request, reached_);
}

void Capture::before(sim::HostedDevice::Request& request) {
  launch_ = describe(request);
  request.watched.assign(reached_.begin(), reached_.end());
  into_ = nullptr;
  if (choice_.any()) {
    if (!wanted(launch_)) return;
    into_ = &recording_.kept[""];
    open_ = true;
  } else {
    Kept& kept = recording_.kept[launch_.kernel];
    if (!kept.launches.empty() && threads_of(launch_) < 1.5 * threads_of(kept.launches.front())) return;
    std::size_t held = 0;
    for (const auto& [name, other] : recording_.kept)
      for (const auto& [address, memory] : other.memory) held += 2 * memory.before.size();
    if (held + 2 * launch_.buffer_bytes > most_bytes_) {
      if (kept.launches.empty()) kept.why_not = fmt::format("too much memory to keep beside other kernels: choose it with --kernel {}", bare(launch_.kernel));
      return;
    }
    kept = {};
    into_ = &kept;
  }
  begin(*into_, request);
}

void Capture::after(const sim::HostedDevice::Request& request, const device::RunResult& result) {
  launch_.work = result.counters.warp_instructions;
  const auto total = std::find_if(recording_.kernels.begin(), recording_.kernels.end(), [&](const KernelTotal& t) { return t.kernel == launch_.kernel; });
  KernelTotal& sum = total != recording_.kernels.end() ? *total : recording_.kernels.emplace_back(KernelTotal{launch_.kernel, 0, launch_.number, 0, 0});
  ++sum.launches;
  sum.work += launch_.work;
  sum.buffer_bytes = std::max(sum.buffer_bytes, launch_.buffer_bytes);
  if (into_ == nullptr) return;

  Kept& kept = *into_;
  for (auto& [address, memory] : kept.memory)
    if (device_.range(address)) memory.after = device_.save(address).bytes;
  const auto variables = device_.variables(request.module);
  for (Variable& variable : kept.variables)
    if (const auto found = variables.find(variable.symbol); found != variables.end()) variable.after = device_.save(found->second.address).bytes;
  if (result.status != device::RunResult::Status::ok && kept.why_not.empty())
    kept.why_not = fmt::format("launch {} of {} fails here: {}", launch_.number, launch_.kernel, result.message);
  kept.launches.push_back(launch_);
  if (!choice_.any()) return;
  for (const auto& name : choice_.kernels)
    if (names_kernel(name, launch_.kernel)) seen_.insert(name);
  complete_ = choice_.first != 0 ? launch_.number >= choice_.last : seen_.size() == std::set<std::string>(choice_.kernels.begin(), choice_.kernels.end()).size();
}

void Capture::host_wrote(std::uint64_t address) {
  if (!open_ || complete_) return;
  const auto range = device_.range(address);
  Kept& kept = recording_.kept[""];
  if (range && kept.memory.contains(range->address) && kept.why_not.empty())
    kept.why_not = fmt::format("after launch {} the program itself writes or frees memory of the task: choose launches up to there", kept.launches.back().number);
}

}  // namespace cudal1::record
