// SPDX-License-Identifier: Apache-2.0
#include "bench/decision.hpp"
#include "bench/estimate.hpp"
#include "bench/limit.hpp"
#include "bench/order.hpp"
#include "bench/race.hpp"
#include "noise.hpp"

#include "catch.hpp"

#include <algorithm>
#include <set>

using namespace cudal1;

TEST_CASE("each arm comes first in half of the pairs, in random order") {
  base::Random random(3);
  const auto order = bench::pair_order(48, random);
  REQUIRE(order.size() == 96);
  int first = 0, changes = 0;
  for (std::size_t i = 0; i < order.size(); i += 2) {
    CHECK(order[i] + order[i + 1] == 1);
    first += order[i] == 0;
    changes += i > 0 && order[i] != order[i - 2];
  }
  CHECK(first == 24);
  CHECK(changes > 12);
  CHECK(changes < 40);
  CHECK(bench::pair_order(48, random) != order);
  std::set<std::size_t> alone;
  for (int i = 0; i < 20; ++i) alone.insert(bench::pair_order(1, random).front());
  CHECK(alone.size() == 2);
}

TEST_CASE("what a sample's place in its chunk does to a short kernel makes no false claim") {
  constexpr double place[] = {0.91, 1.10, 1.05, 0.94};  // as measured: the first and the last of four are the fast ones
  constexpr int repetitions = 1000;
  int false_claims = 0;
  for (int i = 0; i < repetitions; ++i) {
    NoisyClock clock(700 + static_cast<std::uint64_t>(i));
    auto samples = clock.samples(bench::pair_order(24, clock.random()), {1.0, 1.0});
    for (std::size_t k = 0; k < samples.size(); ++k) samples[k].ms *= place[k % 4];
    const auto estimate = bench::estimate(bench::log_ratios(samples), 0.01, 0.00125);
    false_claims += estimate.low() > bench::margin || estimate.high() < -bench::margin;
  }
  INFO(false_claims << " of " << repetitions);
  CHECK(false_claims <= 20);  // blocks of a pair each way make 54
}

TEST_CASE("medians look at one arm only") {
  const std::vector<device::Sample> samples{
      {0, 0, 1.0, 1.0}, {1, 0, 9.0, 9.0}, {0, 0, 3.0, 3.0}, {1, 0, 8.0, 8.0}, {0, 0, 2.0, 2.0}};
  CHECK(bench::median_ms(samples, 0) == 2.0);
  CHECK(bench::median_ms(samples, 1) == 8.5);
  CHECK(bench::median_ms(samples, 2) == 0.0);
  CHECK(bench::shortest_ms(samples) == 1.0);
}

TEST_CASE("a race finds the best member with few launches") {
  int right = 0;
  std::size_t launches = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    NoisyClock clock(seed);
    std::vector<double> times;
    for (int member = 0; member < 16; ++member) times.push_back(0.8 + 0.02 * ((member * 7) % 16));
    bench::Race race(16);
    while (!race.decided() && race.rounds() < 64) {
      const auto order = race.round(clock.random());
      launches += order.size();
      race.add(clock.samples(order, times));
    }
    const auto best = static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
    right += race.best() == best;
  }
  CHECK(right >= 48);
  CHECK(launches < 50 * 16 * 20);
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
