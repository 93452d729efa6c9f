// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cudal1::bench {

// A race between the members of a family: rounds of all survivors in random order; after certain rounds those that are
// surely not the best leave. Members are compared within a round, so the reference, often slower than all of them
// together, takes no part. The winner must be measured again with fresh samples, because the best of many equal ones
// looks faster than it is.
class Race {
 public:
  static constexpr std::array<int, 5> looks{4, 8, 16, 32, 64};

  explicit Race(std::size_t members);

  // The members of one round, in the order to be timed.
  std::vector<std::size_t> round(base::Random& random) const;

  // One round's samples in the order of round(), Sample::arm being the member. Eliminates when the number of rounds is
  // a look.
  void add(const std::vector<device::Sample>& samples);

  const std::vector<std::size_t>& survivors() const { return survivors_; }
  std::size_t best() const;                       // member with the smallest trimmed mean of log times
  bool decided() const { return survivors_.size() == 1; }
  int rounds() const { return rounds_; }

 private:
  void eliminate();

  std::vector<std::vector<double>> log_times_;    // by member, one per round it took part in
  std::vector<std::size_t> survivors_;
  int rounds_ = 0;
};

}  // namespace cudal1::bench
