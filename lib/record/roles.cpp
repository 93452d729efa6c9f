// SPDX-License-Identifier: Apache-2.0
#include "record/task.hpp"

#include "reference/truth.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

using Role = kernel::Buffer::Role;
using Status = device::RunResult::Status;

constexpr std::uint32_t garbage = 0x7fb1c9d3;  // NaN as float32, and nothing that a kernel would write

// The task's buffers on a device, filled anew for every run.
class Replay {
 public:
  Replay(const RecordedTask& task, device::Device& device, const device::Module& module, const kernel::Plan& plan)
      : task_(task), device_(device), module_(module), plan_(plan) {
    // Addresses in the recorded bytes must not lead anywhere by chance.
    constexpr std::size_t elsewhere = std::size_t{97} << 20;
    regions_.push_back({device.allocate(elsewhere, "nothing"), 0, elsewhere});
    for (const auto& buffer : task.buffers) regions_.push_back({device.allocate(std::max<std::size_t>(buffer.bytes, 1), buffer.name), 0, buffer.bytes});
  }
  ~Replay() {
    for (const auto& region : regions_) device_.release(region.memory);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // A budget of instructions ends what garbage has led astray; 0: none.
  device::RunResult run(const std::set<std::size_t>& poisoned, std::uint64_t budget) {
    for (std::size_t i = 0; i < task_.buffers.size(); ++i) {
      if (poisoned.contains(i)) device_.poison(region(i), garbage);
      else device_.write(region(i), task_.buffers[i].memory->before);
    }
    device::BoundPlan bound{&module_, &plan_, {regions_.begin() + 1, regions_.end()}};
    return device_.run(bound, {true, budget});
  }
  Bytes read(std::size_t i) {
    Bytes bytes(region(i).bytes);
    device_.read(region(i), bytes);
    return bytes;
  }
  // Whether the buffer holds what was recorded after the launch, up to rounding.
  bool as_recorded(std::size_t i) {
    const Bytes got = read(i);
    const RecordedTask::Buffer& buffer = task_.buffers[i];
    if (got == buffer.memory->after) return true;
    if (!tensor::is_floating(buffer.dtype)) return false;
    const auto ours = reference::decode(buffer.dtype, got), theirs = reference::decode(buffer.dtype, buffer.memory->after);
    double squares = 0, difference = 0;
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (std::isnan(ours[k]) && std::isnan(theirs[k])) continue;
      if (ours[k] == theirs[k]) continue;
      if (!std::isfinite(ours[k]) || !std::isfinite(theirs[k])) return false;
      difference += (ours[k] - theirs[k]) * (ours[k] - theirs[k]);
      squares += theirs[k] * theirs[k];
    }
    constexpr double relative = 1e-3;
    return difference <= relative * relative * squares;
  }
  bool untouched(std::size_t i) {
    const Bytes bytes = read(i);
    for (std::size_t k = 0; k < bytes.size(); ++k)
      if (bytes[k] != static_cast<std::byte>(garbage >> (8 * (k % 4)) & 0xff)) return false;
    return true;
  }

 private:
  const device::Region& region(std::size_t buffer) const { return regions_[buffer + 1]; }

  const RecordedTask& task_;
  device::Device& device_;
  const device::Module& module_;
  const kernel::Plan& plan_;
  std::vector<device::Region> regions_;
};

std::string first_fault(const device::RunResult& result) {
  if (result.findings.empty()) return result.message;
  const outcome::Finding& first = result.findings.front();
  return fmt::format("{}{}", first.message.empty() ? result.message : first.message, first.line > 0 ? fmt::format(" (line {})", first.line) : "");
}

}  // namespace

tl::expected<void, std::string> settle_roles(RecordedTask& task, device::Device& device, const device::Module& module, const kernel::Plan& plan) {
  Replay replay(task, device, module, plan);
  const auto plain = replay.run({}, 0);
  if (plain.status != Status::ok) return tl::unexpected(fmt::format("the kernel by itself: {}", first_fault(plain)));
  const auto budget = static_cast<std::uint64_t>(10'000 + 2 * plain.counters.warp_instructions);
  for (std::size_t i = 0; i < task.buffers.size(); ++i)
    if (!replay.as_recorded(i)) return tl::unexpected(fmt::format("the kernel by itself does not give what was recorded in {}", task.buffers[i].name));

  std::set<std::size_t> everything, outputs;
  for (std::size_t i = 0; i < task.buffers.size(); ++i) everything.insert(i);
  // One by one: garbage in an index or a length would lead a kernel astray.
  for (const std::size_t i : everything) {
    RecordedTask::Buffer& buffer = task.buffers[i];
    const bool changed = buffer.memory->before != buffer.memory->after;
    if (!changed && buffer.constant) {
      buffer.role = Role::input;
      continue;
    }
    const auto result = replay.run({i}, budget);
    if (!changed && replay.untouched(i)) buffer.role = Role::input;
    else if (result.status == Status::ok && replay.as_recorded(i)) outputs.insert(i);
  }
  if (!outputs.empty()) {
    bool right = replay.run(outputs, budget).status == Status::ok;
    for (const std::size_t i : everything) right = right && (task.buffers[i].role == Role::input || replay.as_recorded(i));
    if (right)
      for (const std::size_t i : outputs) task.buffers[i].role = Role::output;
  }
  if (std::all_of(task.buffers.begin(), task.buffers.end(), [](const auto& buffer) { return buffer.role == Role::input; }))
    return tl::unexpected<std::string>("the launch writes nothing that its pointers lead to");
  return {};
}

}  // namespace cudal1::record
