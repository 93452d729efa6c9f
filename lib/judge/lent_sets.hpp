// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/lender.hpp"
#include "reference/buffers.hpp"

#include <memory>
#include <vector>

namespace cudal1::judge {

// Sets of a task's buffers whose inputs another process writes and whose outputs it judges: in the device's own memory
// where that can be mapped, else through a file in memory that is copied to and fro.
class LentSets {
 public:
  LentSets(device::Device& device, const kernel::Plan& interface, base::Random& random);
  ~LentSets();
  LentSets(const LentSets&) = delete;
  LentSets& operator=(const LentSets&) = delete;

  std::size_t count() const { return sets_.size(); }
  bool tight() const { return sets_.size() == 1; }   // too large for several sets
  reference::Buffers& set(std::size_t index) { return *sets_[index]; }

  // Of every set: the inputs' places, then the outputs'.
  std::vector<std::vector<device::Lent>> places() const { return places_; }
  void seal(std::size_t index);      // its inputs are complete
  void publish(std::size_t index);   // its outputs are to be looked at
  // The same for outputs that stand in other buffers of the same plan.
  void publish(std::size_t index, const reference::Buffers& from);

 private:
  bool in_file() const { return file_ >= 0; }
  void lend_file();

  device::Device& device_;
  const kernel::Plan& interface_;
  std::vector<std::size_t> inputs_, outputs_;   // buffers of the plan
  std::vector<std::unique_ptr<reference::Buffers>> sets_;
  std::vector<std::vector<device::Lent>> places_;
  int file_ = -1;
  std::byte* mapped_ = nullptr;
  std::size_t file_bytes_ = 0;
};

}  // namespace cudal1::judge
