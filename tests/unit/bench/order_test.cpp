// SPDX-License-Identifier: Apache-2.0
#include "bench/limit.hpp"
#include "bench/order.hpp"
#include "noise.hpp"

#include "catch.hpp"

#include <algorithm>
#include <set>

using namespace cudal1;

TEST_CASE("every block of two pairs holds each order once") {
  base::Random random(3);
  const auto order = bench::pair_order(48, random);
  REQUIRE(order.size() == 96);
  std::set<std::size_t> first_of_blocks;
  for (std::size_t i = 0; i < order.size(); i += 4) {
    CHECK(order[i] != order[i + 1]);
    CHECK(order[i] == order[i + 3]);
    CHECK(order[i + 1] == order[i + 2]);
    first_of_blocks.insert(order[i]);
  }
  CHECK(first_of_blocks.size() == 2);  // drawn, not fixed
}

TEST_CASE("medians look at one arm only") {
  const std::vector<device::Sample> samples{
      {0, 0, 1.0, 1.0}, {1, 0, 9.0, 9.0}, {0, 0, 3.0, 3.0}, {1, 0, 8.0, 8.0}, {0, 0, 2.0, 2.0}};
  CHECK(bench::median_ms(samples, 0) == 2.0);
  CHECK(bench::median_ms(samples, 1) == 8.5);
  CHECK(bench::median_ms(samples, 2) == 0.0);
  CHECK(bench::shortest_ms(samples) == 1.0);
}

TEST_CASE("writing outputs faster than memory allows is implausible") {
  outcome::DeviceFacts device;
  device.memory_bytes_per_second = 4e12;
  device.l2_bytes = 60 << 20;
  device.fp32_flops = 60e12;
  CHECK(bench::implausible(0.01, 1e9, device));
  CHECK_FALSE(bench::implausible(0.25, 1e9, device));
  CHECK_FALSE(bench::implausible(0.001, 50e6, device));  // may still lie in the cache
  CHECK(bench::limit(4e9, 0, device).memory_ms == Approx(1.0));
  CHECK_FALSE(bench::limit(4e6, 60e9, device).memory_bound());
}
