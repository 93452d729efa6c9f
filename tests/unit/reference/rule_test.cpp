// SPDX-License-Identifier: Apache-2.0
#include "reference/rule.hpp"

#include "base/random.hpp"

#include "catch.hpp"

#include <cmath>

using namespace cudal1;

namespace {

// From means of `count` squares of normal numbers in each of 16 slices.
double within(int count, std::uint64_t seed) {
  base::Random random(seed);
  double sum = 0, squares = 0;
  for (int slice = 0; slice < 16; ++slice) {
    double ratio = 0;
    for (int i = 0; i < count; ++i) {
      const double radius = -2 * std::log(1 - random.uniform()), angle = std::cos(2 * 3.14159265358979 * random.uniform());
      ratio += radius * angle * angle / count;
    }
    sum += ratio;
    squares += ratio * ratio;
  }
  return reference::independent_errors({1, sum, squares, 16});
}

}  // namespace

TEST_CASE("slices of few errors scatter, and the estimate of their number is seldom too large") {
  int too_many = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) too_many += within(1, seed) > 1.5 ? 1 : 0;
  CHECK(too_many <= 40);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(within(1000, seed) > 100);
    CHECK(within(1000, seed) < 2500);
  }
  CHECK(reference::independent_errors({1, 5, 25, 1}) == 1);
  CHECK(reference::independent_errors({1, 0, 0, 16}) == 1);
  CHECK(reference::independent_errors({0.5, 1e-190, 0, 16}) == 2);
}

TEST_CASE("an output that is off by the same in each of 16 slices is held to less than one that is off in few") {
  reference::Deviation deviation;
  deviation.whole = 5.5;
  deviation.count = reference::independent_errors({1.0 / 16, 16 * 30.0, 16 * 900.0, 16});
  CHECK_FALSE(reference::judge(deviation).empty());
  deviation.count = reference::independent_errors({1.0 / 16, 30, 900, 16});
  CHECK(reference::judge(deviation).empty());
}
