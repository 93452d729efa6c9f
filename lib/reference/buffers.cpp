// SPDX-License-Identifier: Apache-2.0
#include "reference/buffers.hpp"

#include "base/defence.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::reference {

namespace {

using Role = kernel::PlanBuffer::Role;

constexpr std::size_t guard_bytes = 4096;

bool poisonable(const kernel::PlanBuffer& buffer) {
  return buffer.role == Role::output || (buffer.role == Role::scratch && !buffer.initial);
}

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

std::uint32_t nan_word(tensor::Dtype dtype, base::Random& random) {
  const auto bits = static_cast<std::uint32_t>(random.next());
  if (!tensor::is_floating(dtype)) return bits;
  if (dtype == tensor::Dtype::float64) return 0x7ff80000U | (bits & 0x7ffffU);
  return 0x7f817f81U | (bits & 0x007e007eU);
}

Buffers::Buffers(device::Device& device, const kernel::Plan& plan, base::Random& random)
    : device_(device), plan_(plan), random_(random) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (leads(i)) {
      places_.push_back(place_for(plan.buffers[i]));
    } else {
      places_.push_back(Place(places_[kernel::memory_of(plan.buffers, i)]));
      places_.back().owned = false;
    }
  }
}

Buffers::Buffers(device::Device& device, const kernel::Plan& plan, base::Random& random, const Buffers& shared)
    : device_(device), plan_(plan), random_(random), inputs_(shared.inputs_), pristine_(shared.pristine_), adopted_(shared.adopted_) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role == Role::scratch) {
      places_.push_back(place_for(plan.buffers[i]));
    } else {
      places_.push_back(shared.places_[i]);
      places_.back().owned = false;
    }
  }
}

Buffers::Place Buffers::place_for(const kernel::PlanBuffer& buffer) {
  Place place;
  place.guard = device_.checks_memory() ? 0 : guard_bytes;
  place.guard_word = static_cast<std::uint32_t>(random_.next());
  const std::size_t bytes = buffer.memory_bytes();
  place.total = place.guard == 0 ? std::max<std::size_t>(bytes, 1) : rounded(bytes) + 2 * place.guard;
  place.region.memory = device_.allocate(place.total, buffer.name);
  place.region.offset = place.guard;
  place.region.bytes = bytes;
  if (place.guard != 0) {
    if (base::defended(base::Defence::check_poison)) device_.poison({place.region.memory, 0, place.total}, place.guard_word);
    place.front_digest = device_.digest({place.region.memory, 0, place.guard});
    place.behind_digest = device_.digest({place.region.memory, place.guard + bytes, behind_bytes(place)});
  }
  return place;
}

// The zone behind starts at the buffer's very end, so that a single element too far is seen.
std::size_t Buffers::behind_bytes(const Place& place) { return place.total - place.guard - place.region.bytes; }

Buffers::~Buffers() {
  for (const Place& place : places_)
    if (place.owned) device_.release(place.region.memory);
}

void Buffers::load(const std::vector<Bytes>& inputs) {
  inputs_ = &inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].empty()) continue;
    if (plan_.buffers[i].stride == 0) device_.write(places_[i].region, inputs[i]);
    else if (leads(i)) device_.write(places_[i].region, structures(i, inputs));
    places_[i].digest = device_.digest(places_[i].region);
  }
}

void Buffers::load(const Buffers& pristine) {
  pristine_ = &pristine;
  for (std::size_t i = 0; i < std::min(places_.size(), pristine.places_.size()); ++i) {
    const Role role = plan_.buffers[i].role;
    if ((role != Role::input && role != Role::inout) || plan_.buffers[i].bytes == 0) continue;
    if (leads(i)) device_.copy(pristine.places_[i].region, places_[i].region);
    places_[i].digest = pristine.places_[i].digest;
  }
}

void Buffers::adopt_inputs() {
  adopted_ = true;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (plan_.buffers[i].role == Role::input && plan_.buffers[i].bytes != 0) places_[i].digest = device_.digest(places_[i].region);
}

void Buffers::restore_inouts() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].role != Role::inout || plan_.buffers[i].bytes == 0 || !leads(i)) continue;
    if (plan_.buffers[i].stride != 0 && pristine_ == nullptr) device_.write(places_[i].region, structures(i, *inputs_));
    else if (pristine_ != nullptr) device_.copy(pristine_->places_[i].region, places_[i].region);
    else device_.write(places_[i].region, (*inputs_)[i]);
  }
}

void Buffers::poison(Fill fill) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const kernel::PlanBuffer& buffer = plan_.buffers[i];
    if (!poisonable(buffer) || buffer.bytes == 0) continue;
    std::uint32_t word = nan_word(buffer.dtype, random_);
    if (fill == Fill::finite && tensor::is_floating(buffer.dtype))  // about 1.0 … 1.9 in each floating type
      word = tensor::size_of(buffer.dtype) == 2 ? 0x3c003c00U | (word & 0x007f007fU) : 0x3f800000U | (word & 0x7fffffU);
    places_[i].poison_word = word;
    places_[i].poisoned = true;
    if (buffer.stride == 0) device_.poison(places_[i].region, word);
  }
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (plan_.buffers[i].stride != 0 && places_[i].poisoned && leads(i))
      device_.write(places_[i].region, laid_out(i, [&](std::size_t member, std::size_t byte) {
        return static_cast<std::byte>(places_[member].poison_word >> (8 * (byte % 4)));
      }));
}

// The structures' memory: each member's bytes, and padding that is no number.
template <typename Element>
Bytes Buffers::laid_out(std::size_t buffer, Element byte_of) const {
  Bytes bytes(places_[buffer].region.bytes, std::byte{0xcb});
  for (std::size_t i = buffer; i < plan_.buffers.size(); ++i) {
    const kernel::PlanBuffer& member = plan_.buffers[i];
    if (member.stride == 0 || kernel::memory_of(plan_.buffers, i) != buffer) continue;
    for (std::size_t k = 0; k < member.bytes; ++k) bytes[k / member.width * member.stride + member.offset + k % member.width] = byte_of(i, k);
  }
  return bytes;
}

Bytes Buffers::structures(std::size_t buffer, const std::vector<Bytes>& inputs) const {
  return laid_out(buffer, [&](std::size_t member, std::size_t byte) { return inputs[member][byte]; });
}

bool Buffers::untouched(std::size_t buffer, const Bytes& bytes, std::size_t element) const {
  const Place& place = places_[buffer];
  if (!place.poisoned) return false;
  const std::size_t size = tensor::size_of(plan_.buffers[buffer].dtype);
  std::byte word[4];
  std::memcpy(word, &place.poison_word, sizeof word);
  for (std::size_t i = 0; i < size; ++i)
    if (bytes[element * size + i] != word[(element * size + i) % 4]) return false;
  return true;
}

device::BoundPlan Buffers::bind(const device::Module& module) const {
  device::BoundPlan bound;
  bound.module = &module;
  bound.plan = &plan_;
  for (const Place& place : places_) bound.buffers.push_back(place.region);
  return bound;
}

std::vector<bool> Buffers::written(std::size_t buffer) const {
  const std::vector<bool> all = device_.written(places_[buffer].region);
  const kernel::PlanBuffer& member = plan_.buffers[buffer];
  if (member.stride == 0 || all.size() != places_[buffer].region.bytes) return all;
  std::vector<bool> own(member.bytes);
  for (std::size_t k = 0; k < own.size(); ++k) own[k] = all[k / member.width * member.stride + member.offset + k % member.width];
  return own;
}

Bytes Buffers::read(std::size_t buffer) const {
  Bytes bytes(places_[buffer].region.bytes);
  if (!bytes.empty()) device_.read(places_[buffer].region, bytes);
  const kernel::PlanBuffer& member = plan_.buffers[buffer];
  if (member.stride == 0) return bytes;
  Bytes own(member.bytes);
  for (std::size_t k = 0; k < own.size(); ++k) own[k] = bytes[k / member.width * member.stride + member.offset + k % member.width];
  return own;
}

std::string Buffers::damage() const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const kernel::PlanBuffer& buffer = plan_.buffers[i];
    const Place& place = places_[i];
    const bool loaded = (inputs_ != nullptr || pristine_ != nullptr || adopted_) && base::defended(base::Defence::input_digests);
    if (loaded && buffer.role == Role::input && buffer.bytes != 0 && device_.digest(place.region) != place.digest)
      return fmt::format("input {} was changed; inputs are read-only", name_of(i));
    if (place.guard == 0 || !base::defended(base::Defence::guards)) continue;
    if (device_.digest({place.region.memory, 0, place.guard}) != place.front_digest ||
        device_.digest({place.region.memory, place.guard + place.region.bytes, behind_bytes(place)}) != place.behind_digest)
      return guard_damage(i);
  }
  return "";
}

std::string Buffers::guard_damage(std::size_t buffer) const {
  const Place& place = places_[buffer];
  Bytes bytes(place.total);
  device_.read({place.region.memory, 0, place.total}, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= place.guard && i < place.guard + place.region.bytes) continue;
    if (bytes[i] == static_cast<std::byte>(place.guard_word >> (8 * (i % 4)))) continue;
    return fmt::format("memory outside {} was written, at byte {} of a buffer of {} bytes", name_of(buffer),
                       static_cast<std::int64_t>(i) - static_cast<std::int64_t>(place.guard), place.region.bytes);
  }
  return fmt::format("memory outside {} was written", name_of(buffer));
}

}  // namespace cudal1::reference
