// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include "catch.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

using namespace cudal1::base;

// The known answers that come with Random123 (kat_vectors, philox4x32 10).
TEST_CASE("Philox 4x32-10 gives the published answers") {
  using Block = std::array<std::uint32_t, 4>;
  CHECK(philox(0, 0, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~0ULL, ~0ULL, ~0ULL) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("one seed gives one sequence, and streams differ") {
  Random a(7), b(7), c(7, 1);
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    CHECK(value == b.next());
    equal += value == c.next();
  }
  CHECK(equal == 0);
}

TEST_CASE("bounded and unit draws stay in range and are even") {
  Random random(1);
  std::array<int, 6> faces{};
  double sum = 0;
  for (int i = 0; i < 60000; ++i) {
    ++faces.at(random.below(6));
    const double u = random.uniform();
    REQUIRE((u >= 0 && u < 1));
    sum += u;
  }
  for (const int count : faces) CHECK(std::abs(count - 10000) < 500);
  CHECK(std::abs(sum / 60000 - 0.5) < 0.01);
  CHECK(Random(3).below(1) == 0);
}

TEST_CASE("secret seeds differ") { CHECK(secret_seed() != secret_seed()); }
