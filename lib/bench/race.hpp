// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "bench/estimate.hpp"
#include "device/device.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cudal1::bench {

// A race between the members of a family, or between variants: rounds of all survivors in random order; after certain
// rounds those that are surely not the best leave. Members are compared within a round, so the reference, often slower
// than all of them together, takes no part. The winner must be measured again with fresh samples, because the best of
// many equal ones looks faster than it is.
class Race {
 public:
  static constexpr std::array<int, 5> looks{4, 8, 16, 32, 64};

  explicit Race(std::size_t members);

  // The members of one round, in the order to be timed.
  std::vector<std::size_t> round(base::Random& random) const;

  // One round's samples in the order of round(), Sample::arm being the member, by a clock of that tick. Eliminates when
  // the number of rounds is a look.
  void add(const std::vector<device::Sample>& samples, double tick_ms);

  const std::vector<std::size_t>& survivors() const { return survivors_; }
  std::size_t best() const;                       // the survivor that no other is faster than, pair by pair
  // ln(time of `other` / time of `member`) over the rounds in which both took part, at 99 %.
  Estimate over(std::size_t member, std::size_t other) const;
  bool decided() const { return survivors_.size() == 1; }
  int rounds() const { return rounds_; }
  int turns(std::size_t member) const { return static_cast<int>(log_times_[member].size()); }  // rounds it took part in

 private:
  void eliminate();

  std::vector<std::vector<double>> log_times_;    // by member, one per round it took part in
  std::vector<std::size_t> survivors_;
  int rounds_ = 0;
  double guard_ = 0;                              // the clock's part of an interval
};

}  // namespace cudal1::bench
