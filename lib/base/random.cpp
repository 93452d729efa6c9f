// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include "base/error.hpp"

#include <sys/random.h>

namespace cudal1::base {

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(counter_low), static_cast<std::uint32_t>(counter_low >> 32),
                                    static_cast<std::uint32_t>(counter_high), static_cast<std::uint32_t>(counter_high >> 32)};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

std::uint64_t Random::next() {
  const auto block = philox(key_, position_ / 2, stream_);
  const std::size_t half = position_ % 2 * 2;
  ++position_;
  return block[half] | std::uint64_t{block[half + 1]} << 32;
}

// Draws below the remainder of 2^64 / bound are thrown away; what is left divides evenly.
std::uint64_t Random::below(std::uint64_t bound) {
  const std::uint64_t uneven = (0 - bound) % bound;
  for (;;)
    if (const std::uint64_t value = next(); value >= uneven) return value % bound;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    throw Error(Fault::internal, "the operating system gives no random numbers (getrandom failed)");
  return seed;
}

}  // namespace cudal1::base
