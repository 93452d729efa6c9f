// SPDX-License-Identifier: Apache-2.0
#include "judge/lent_sets.hpp"

#include "base/error.hpp"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using Role = kernel::PlanBuffer::Role;

constexpr std::size_t several_sets = 3;
constexpr std::size_t roomy_bytes = std::size_t{256} << 20;   // of one set; larger ones exist once and are refilled

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

LentSets::LentSets(device::Device& device, const kernel::Plan& interface, base::Random& random)
    : device_(device), interface_(interface) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < interface.buffers.size(); ++i) {
    (interface.buffers[i].role == Role::input ? inputs_ : outputs_).push_back(i);
    bytes += interface.buffers[i].bytes;
  }
  for (std::size_t i = 0; i < (bytes <= roomy_bytes ? several_sets : 1); ++i)
    sets_.push_back(std::make_unique<reference::Buffers>(device, interface, random));
  auto* lender = dynamic_cast<device::Lender*>(&device);
  for (const auto& set : sets_) {
    auto& places = places_.emplace_back();
    for (const auto* group : {&inputs_, &outputs_})
      for (const std::size_t buffer : *group)
        if (auto lent = lender == nullptr ? std::nullopt : lender->lend(set->region(buffer))) places.push_back(*std::move(lent));
    if (places.size() == interface.buffers.size()) continue;
    lend_file();
    return;
  }
}

LentSets::~LentSets() {
  if (mapped_ != nullptr) munmap(mapped_, file_bytes_);
  if (in_file()) close(file_);
}

void LentSets::lend_file() {
  places_.clear();
  file_ = memfd_create("cudal1", MFD_CLOEXEC);
  if (file_ < 0) throw base::Error(base::Fault::internal, "no shared memory for the task's tensors");
  for (const auto& set : sets_) {
    auto& places = places_.emplace_back();
    for (const auto* group : {&inputs_, &outputs_})
      for (const std::size_t buffer : *group) {
        places.push_back({"", fmt::format("/proc/{}/fd/{}", getpid(), file_), file_bytes_, set->region(buffer).bytes});
        file_bytes_ += aligned(places.back().bytes);
      }
  }
  file_bytes_ = std::max<std::size_t>(file_bytes_, 1);
  void* memory = ftruncate(file_, static_cast<off_t>(file_bytes_)) == 0
                     ? mmap(nullptr, file_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                     : MAP_FAILED;
  if (memory == MAP_FAILED) throw base::Error(base::Fault::no_device, fmt::format("{} bytes of shared memory cannot be had", file_bytes_));
  mapped_ = static_cast<std::byte*>(memory);
}

void LentSets::seal(std::size_t index) {
  for (std::size_t i = 0; in_file() && i < inputs_.size(); ++i) {
    const device::Lent& place = places_[index][i];
    if (place.bytes != 0) device_.write(sets_[index]->region(inputs_[i]), {mapped_ + place.offset, place.bytes});
  }
  sets_[index]->adopt_inputs();
}

void LentSets::publish(std::size_t index) {
  for (std::size_t i = 0; in_file() && i < outputs_.size(); ++i) {
    const device::Lent& place = places_[index][inputs_.size() + i];
    if (place.bytes != 0) device_.read(sets_[index]->region(outputs_[i]), {mapped_ + place.offset, place.bytes});
  }
}

void LentSets::publish(std::size_t index, const reference::Buffers& from) {
  for (const std::size_t output : outputs_)
    if (const device::Region& there = sets_[index]->region(output); there.bytes != 0 && there.memory != from.region(output).memory)
      device_.copy(from.region(output), there);
  publish(index);
  device_.digest(sets_[index]->region(outputs_.front()));   // waits for the copies
}

}  // namespace cudal1::judge
