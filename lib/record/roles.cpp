// SPDX-License-Identifier: Apache-2.0
#include "record/task.hpp"

#include "base/clock.hpp"
#include "reference/truth.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

using Role = kernel::Buffer::Role;
using Status = device::RunResult::Status;

constexpr double most_trial_seconds = 2;       // beyond twenty times what the recorded launch takes
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
    if (lost_) return;  // it would wait for a kernel that does not end
    for (const auto& region : regions_) device_.release(region.memory);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // What stands in a buffer instead of what was recorded.
  enum class Filling { poison, zeros, ones, after };
  // A budget of instructions ends what has been led astray; 0: none.
  device::RunResult run(const std::set<std::size_t>& others, Filling filling, std::uint64_t budget) {
    if (lost_) return {Status::timeout, "", {}, {}, {}, 1, 1, 0, ""};
    for (std::size_t i = 0; i < task_.buffers.size(); ++i) {
      const Memory& memory = *task_.buffers[i].memory;
      if (!others.contains(i)) device_.write(region(i), memory.before);
      else if (filling == Filling::poison) device_.poison(region(i), garbage);
      else if (filling == Filling::zeros) device_.write(region(i), Bytes(memory.before.size()));
      else if (filling == Filling::ones) device_.write(region(i), ones(i));
      else device_.write(region(i), memory.after);
    }
    device::BoundPlan bound{&module_, &plan_, {}};
    for (std::size_t i = 0; i < task_.buffers.size(); ++i)  // a plan's buffers are the members of structures
      bound.buffers.insert(bound.buffers.end(), task_.buffers[i].structure ? task_.buffers[i].structure->members.size() : 1, region(i));
    device::RunResult result = device_.run(bound, {.checks = true, .instruction_budget = budget, .seconds = seconds_});
    lost_ = seconds_ > 0 && result.status == Status::timeout;
    return result;
  }
  // From now on nothing may take longer, and when something has, there is nothing to run on any more.
  void limit(double seconds) { seconds_ = seconds; }
  bool lost() const { return lost_; }
  Bytes read(std::size_t i) {
    Bytes bytes(region(i).bytes);
    device_.read(region(i), bytes);
    return bytes;
  }
  // Whether the buffer holds what was recorded after the launch, up to rounding.
  bool as_recorded(std::size_t i) {
    const Bytes got = read(i);
    const RecordedTask::Buffer& buffer = task_.buffers[i];
    if (!buffer.structure) return close(buffer.dtype, got, buffer.memory->after);
    for (std::size_t k = 0; k < buffer.structure->members.size(); ++k)
      if (!close(buffer.structure->members[k].dtype, member_bytes(*buffer.structure, k, got), member_bytes(*buffer.structure, k, buffer.memory->after))) return false;
    return true;
  }
  // The same to the bit; what pads structures is nobody's.
  bool same_bits(std::size_t i, const Bytes& left, const Bytes& right) const {
    const RecordedTask::Buffer& buffer = task_.buffers[i];
    if (!buffer.structure) return left == right;
    for (std::size_t k = 0; k < buffer.structure->members.size(); ++k)
      if (member_bytes(*buffer.structure, k, left) != member_bytes(*buffer.structure, k, right)) return false;
    return true;
  }
  static bool close(tensor::Dtype dtype, const Bytes& got, const Bytes& after) {
    if (got == after) return true;
    if (!tensor::is_floating(dtype)) return false;
    const auto ours = reference::decode(dtype, got), theirs = reference::decode(dtype, after);
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
  // Whether an element that was filled with 1 still holds it, and should not.
  bool kept_ones(std::size_t i) {
    const Bytes got = read(i), filled = ones(i);
    const Bytes& after = task_.buffers[i].memory->after;
    bool kept = false;
    for_each_element(i, [&](std::size_t at, tensor::Dtype dtype) {
      const std::size_t size = tensor::size_of(dtype);
      kept = kept || (std::memcmp(got.data() + at, filled.data() + at, size) == 0 && std::memcmp(got.data() + at, after.data() + at, size) != 0);
    });
    return kept;
  }
  bool untouched(std::size_t i, Filling filling) {
    const std::uint32_t word = filling == Filling::poison ? garbage : 0;
    const Bytes bytes = read(i);
    for (std::size_t k = 0; k < bytes.size(); ++k)
      if (bytes[k] != static_cast<std::byte>(word >> (8 * (k % 4)) & 0xff)) return false;
    return true;
  }

 private:
  const device::Region& region(std::size_t buffer) const { return regions_[buffer + 1]; }
  Bytes ones(std::size_t i) const {
    Bytes bytes(task_.buffers[i].memory->before.size());
    for_each_element(i, [&](std::size_t at, tensor::Dtype dtype) { tensor::store(dtype, 1, bytes.data() + at); });
    return bytes;
  }
  template <typename Visit>
  void for_each_element(std::size_t i, Visit visit) const {
    const RecordedTask::Buffer& buffer = task_.buffers[i];
    const std::size_t bytes = buffer.memory->before.size();
    if (!buffer.structure)
      for (std::size_t at = 0, size = tensor::size_of(buffer.dtype); at + size <= bytes; at += size) visit(at, buffer.dtype);
    else
      for (std::size_t from = 0; from + buffer.structure->bytes <= bytes; from += buffer.structure->bytes)
        for (const auto& member : buffer.structure->members)
          for (std::int64_t k = 0; k < std::max<std::int64_t>(1, member.count); ++k) visit(from + member.offset + static_cast<std::size_t>(k) * tensor::size_of(member.dtype), member.dtype);
  }

  const RecordedTask& task_;
  device::Device& device_;
  const device::Module& module_;
  const kernel::Plan& plan_;
  std::vector<device::Region> regions_;
  double seconds_ = 0;
  bool lost_ = false;
};

std::string first_fault(const device::RunResult& result) {
  if (result.findings.empty()) return result.message;
  const outcome::Finding& first = result.findings.front();
  return fmt::format("{}{}", first.message.empty() ? result.message : first.message, first.line > 0 ? fmt::format(" (line {})", first.line) : "");
}

// Whether what a first run has left is what was recorded, byte for byte or in what a second run gives as well.
tl::expected<void, std::string> compare_with_recorded(RecordedTask& task, Replay& replay) {
  std::vector<Bytes> first;
  std::string differs;
  bool same = true;
  for (std::size_t i = 0; i < task.buffers.size(); ++i) {
    first.push_back(replay.read(i));
    same = same && replay.same_bits(i, first.back(), task.buffers[i].memory->after);
    if (differs.empty() && !replay.as_recorded(i)) differs = task.buffers[i].name;
  }
  if (!same) {
    bool again = replay.run({}, Replay::Filling::zeros, 0).status == Status::ok;
    for (std::size_t i = 0; i < task.buffers.size(); ++i) again = again && replay.same_bits(i, replay.read(i), first[i]);
    task.replayed = again ? RecordedTask::Replayed::rounded : RecordedTask::Replayed::varying;
    if (!differs.empty())
      return tl::unexpected(again ? fmt::format("the kernel by itself does not give what was recorded in {}", differs) : fmt::format("two runs of the kernel differ in {}", differs));
  }
  return {};
}

}  // namespace

tl::expected<void, std::string> settle_roles(RecordedTask& task, device::Device& device, const device::Module& module, const kernel::Plan& plan, bool checked) {
  using Filling = Replay::Filling;
  Replay replay(task, device, module, plan);
  const base::Seconds began = base::now();
  const auto plain = replay.run({}, Filling::zeros, 0);
  if (!checked) replay.limit(most_trial_seconds + 20 * (base::now() - began).count());
  if (plain.status != Status::ok) return tl::unexpected(fmt::format("the kernel by itself: {}", first_fault(plain)));
  const auto budget = static_cast<std::uint64_t>(10'000 + 2 * plain.counters.warp_instructions);
  if (auto replayed = compare_with_recorded(task, replay); !replayed) return replayed;

  std::set<std::size_t> everything, outputs;
  for (std::size_t i = 0; i < task.buffers.size(); ++i) everything.insert(i);
  // Garbage in an index or a length would lead a kernel astray, which ends everything on a GPU: there, what may well stand in
  // a buffer stands in it. A list of zeros may have no end either, so what an inout can be told by comes first. With ones an
  // element shows that the kernel does not write.
  const std::vector<Filling> fillings = checked ? std::vector{Filling::poison} : std::vector{Filling::after, Filling::ones, Filling::zeros};
  const auto right_with = [&](const std::set<std::size_t>& others, Filling filling, const std::set<std::size_t>& looked_at) {
    if (replay.run(others, filling, budget).status != Status::ok) return false;
    return std::all_of(looked_at.begin(), looked_at.end(), [&](std::size_t i) { return replay.as_recorded(i) && !(filling == Filling::ones && others.contains(i) && replay.kept_ones(i)); });
  };
  for (const std::size_t i : everything) {
    RecordedTask::Buffer& buffer = task.buffers[i];
    const bool changed = buffer.memory->before != buffer.memory->after;
    if (!changed && buffer.constant) {
      buffer.role = Role::input;
      continue;
    }
    if (!changed) {
      const Filling filling = fillings.back();
      const bool zero = std::all_of(buffer.memory->before.begin(), buffer.memory->before.end(), [](std::byte b) { return b == std::byte{0}; });
      if (filling == Filling::zeros && zero) continue;  // nothing can be told apart: an inout is always right
      const auto result = replay.run({i}, filling, budget);
      if (replay.lost()) break;
      if (replay.untouched(i, filling)) buffer.role = Role::input;
      else if (result.status == Status::ok && replay.as_recorded(i)) outputs.insert(i);
      continue;
    }
    if (std::all_of(fillings.begin(), fillings.end(), [&](Filling filling) { return right_with({i}, filling, {i}); })) outputs.insert(i);
  }
  if (!outputs.empty() && !replay.lost()) {
    std::set<std::size_t> written;
    for (const std::size_t i : everything)
      if (task.buffers[i].role != Role::input) written.insert(i);
    if (std::all_of(fillings.begin(), fillings.end(), [&](Filling filling) { return right_with(outputs, filling, written); }))
      for (const std::size_t i : outputs) task.buffers[i].role = Role::output;
  }
  task.device_lost = replay.lost();
  if (std::all_of(task.buffers.begin(), task.buffers.end(), [](const auto& buffer) { return buffer.role == Role::input; }))
    return tl::unexpected<std::string>("the launch writes nothing that its pointers lead to");
  return {};
}

}  // namespace cudal1::record
