// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison.hpp"

#include "bench/order.hpp"
#include "noise.hpp"

#include "catch.hpp"

#include <cmath>

using namespace cudal1;
using outcome::Verdict;

namespace {

std::vector<device::Sample> pairs(NoisyClock& clock, int count, double speedup, double clock_hz) {
  auto samples = clock.samples(bench::pair_order(count, clock.random()), {1.0, 1 / speedup});
  for (auto& sample : samples) sample.clock_hz = clock_hz;
  return samples;
}

}  // namespace

TEST_CASE("a comparison asks for the pairs of its looks and ends with a verdict") {
  NoisyClock clock(1);
  bench::Comparison comparison(bench::Purpose::screening, {1}, 1e9);
  std::vector<int> asked;
  std::optional<Verdict> verdict;
  while (!verdict) {
    asked.push_back(comparison.wanted(0));
    comparison.add(0, pairs(clock, asked.back(), 1, 2e9), 0);
    verdict = comparison.look();
  }
  CHECK(std::vector<int>(asked.begin(), asked.begin() + 2) == std::vector<int>{6, 6});
  CHECK((*verdict == Verdict::equivalent || *verdict == Verdict::dropped || *verdict == Verdict::inconclusive));
  CHECK(comparison.set_aside() == 0);

  bench::Comparison last(bench::Purpose::final_, {1}, 1e9);
  CHECK(last.wanted(0) == 24);
  last.add(0, pairs(clock, 24, 1.2, 2e9), 0);
  CHECK(last.look() == Verdict::faster);
  CHECK(last.wanted(0) == 0);
}

TEST_CASE("pairs taken while the clock was held down are set aside and taken again") {
  NoisyClock clock(2);
  bench::Comparison comparison(bench::Purpose::final_, {1}, 1e9);
  comparison.add(0, pairs(clock, 16, 1, 1.98e9), 0);
  auto slow = pairs(clock, 8, 1, 1.2e9);
  for (auto& sample : slow) sample.ms *= sample.arm == 0 ? 1.65 : 1;  // it fell between the two arms
  comparison.add(0, slow, 0);
  CHECK(comparison.set_aside() == 16);
  CHECK(comparison.wanted(0) == 8);
  CHECK_FALSE(comparison.look());
  comparison.add(0, pairs(clock, 8, 1, 1.97e9), 0);
  CHECK(comparison.look() != Verdict::faster);
  CHECK(comparison.estimate().pairs == 24);
}

TEST_CASE("a comparison ends although the clock never recovers") {
  NoisyClock clock(3);
  bench::Comparison comparison(bench::Purpose::final_, {1}, 1e9);
  int rounds = 0;
  std::optional<Verdict> verdict;
  while (!verdict && ++rounds < 60) {
    auto samples = pairs(clock, comparison.wanted(0), 1, 2e9);
    for (std::size_t i = 0; i < samples.size(); i += 5) samples[i].clock_hz = 1e9;
    comparison.add(0, samples, 0);
    verdict = comparison.look();
  }
  CHECK(verdict);
  CHECK(comparison.estimate().pairs > 0);
}

TEST_CASE("an open question stays open when the device time is used up") {
  NoisyClock clock(4);
  bench::Comparison comparison(bench::Purpose::screening, {1}, 10);
  std::optional<Verdict> verdict;
  while (!verdict) {
    comparison.add(0, pairs(clock, comparison.wanted(0), 1.012, 2e9), 0);
    verdict = comparison.look();
  }
  CHECK(comparison.estimate().pairs == 12);
}

TEST_CASE("the longest stall of any sample is kept") {
  NoisyClock clock(5);
  bench::Comparison comparison(bench::Purpose::final_, {1, 1}, 1e9);
  auto samples = pairs(clock, 4, 1, 2e9);
  samples[3].stall_ms = 0.4;
  comparison.add(1, samples, 0);
  CHECK(comparison.longest_stall_ms() == 0.4);
}
