// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace cudal1::base {

// Philox 4x32-10, a counter-based generator: block(c) depends on key and counter alone, so element i of a stream is
// the same on every device and in any order. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high);

// A bijection of 64-bit values that flips every bit of the result with about every bit of the argument: the output function of SplitMix64.
// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. For bits that nobody has to guess at.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// A sequential view for the host's own choices (search, order of measurements). Same seed, same sequence everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : key_(seed), stream_(stream) {}
  std::uint64_t next();                          // uniform over all 64-bit values
  std::uint64_t below(std::uint64_t bound);      // uniform in [0, bound), bound > 0, without modulo bias
  double uniform();                              // uniform in [0, 1), 53 bits

 private:
  std::uint64_t key_, stream_, position_ = 0;
};

// A seed that nobody could have known, from the operating system.
std::uint64_t secret_seed();

}  // namespace cudal1::base
