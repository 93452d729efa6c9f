// SPDX-License-Identifier: Apache-2.0
#include "bench/estimate.hpp"

#include "bench/order.hpp"
#include "noise.hpp"

#include "catch.hpp"

#include <cmath>

using namespace cudal1;

TEST_CASE("a wild pair does not move the estimate") {
  const std::vector<double> calm{0.10, 0.11, 0.09, 0.10, 0.10, 0.11};
  std::vector<double> spiky = calm;
  spiky[3] = 3;
  CHECK(bench::estimate(spiky, 0.05, 0).mean == Approx(bench::estimate(calm, 0.05, 0).mean).margin(0.01));
}

TEST_CASE("an estimate is symmetric in its arms") {
  const std::vector<double> forward{0.02, 0.05, 0.01, -0.01, 0.04, 0.03, 0.02};
  std::vector<double> backward;
  for (const double value : forward) backward.push_back(-value);
  const auto a = bench::estimate(forward, 0.01, 0.001);
  const auto b = bench::estimate(backward, 0.01, 0.001);
  CHECK(a.mean == Approx(-b.mean));
  CHECK(a.half_width == Approx(b.half_width));
  CHECK(a.speedup().low == Approx(1 / b.speedup().high));
}

TEST_CASE("a coarse clock cannot make an interval narrower than its tick") {
  const std::vector<double> equal(24, 0.0);
  const auto estimate = bench::estimate(equal, 0.01, bench::timer_guard(1, 400));
  CHECK(estimate.half_width == Approx(0.00125));
}

TEST_CASE("two pairs say nothing") {
  const std::vector<double> one{0.3};
  CHECK(std::isinf(bench::estimate(one, 0.05, 0).half_width));
}

TEST_CASE("the interval covers the truth under drift, scatter and spikes") {
  constexpr int repetitions = 2000;
  for (const int pairs : {12, 24, 48}) {
    int covered = 0;
    for (int i = 0; i < repetitions; ++i) {
      NoisyClock clock(1000 + static_cast<std::uint64_t>(i));
      for (int warm = 0; warm < 100; ++warm) clock.sample(0, 1);
      const auto samples = clock.samples(bench::pair_order(pairs, clock.random()), {1.0, 1 / 1.05});
      const auto estimate = bench::estimate(bench::log_ratios(samples), 0.05, 0);
      covered += estimate.low() <= std::log(1.05) && std::log(1.05) <= estimate.high();
    }
    INFO(pairs << " pairs, covered " << covered);
    CHECK(covered >= 0.935 * repetitions);
    CHECK(covered <= 0.985 * repetitions);
  }
}

TEST_CASE("the guard keeps coverage when the clock is coarse") {
  constexpr int repetitions = 2000;
  int covered = 0;
  for (int i = 0; i < repetitions; ++i) {
    NoisyClock clock(77 + static_cast<std::uint64_t>(i), 1.0 / 20);
    const auto samples = clock.samples(bench::pair_order(24, clock.random()), {1.0, 0.98});
    const auto estimate =
        bench::estimate(bench::log_ratios(samples), 0.05, bench::timer_guard(1.0 / 20, bench::shortest_ms(samples)));
    covered += std::fabs(estimate.mean + std::log(0.98)) <= estimate.half_width;
  }
  CHECK(covered >= 0.97 * repetitions);
}

TEST_CASE("a chain of two ratios multiplies them and adds their errors in squares") {
  bench::Estimate second;
  second.mean = std::log(40);
  second.half_width = 0.031;
  second.guard = 0.001;
  bench::Estimate third;
  third.mean = std::log(1.1);
  third.half_width = 0.042;
  third.guard = 0.002;
  third.pairs = 12;
  const auto chained = bench::chain(second, third);
  CHECK(chained.speedup().value == Approx(44));
  CHECK(chained.half_width == Approx(0.05 + 0.003));
  CHECK(chained.pairs == 12);
}

TEST_CASE("workloads combine as a weighted geometric mean") {
  bench::Estimate twice;
  twice.mean = std::log(2);
  twice.half_width = 0.01;
  twice.pairs = 24;
  bench::Estimate equal;
  equal.half_width = 0.01;
  equal.pairs = 12;
  const bench::Estimate parts[] = {twice, equal};
  const double even[] = {1, 1};
  const double uneven[] = {3, 1};
  CHECK(bench::combine(parts, even).speedup().value == Approx(std::sqrt(2)));
  CHECK(bench::combine(parts, uneven).speedup().value == Approx(std::pow(2, 0.75)));
  CHECK(bench::combine(parts, even).half_width == Approx(0.01 / std::sqrt(2)));
  CHECK(bench::combine(parts, even).pairs == 12);
}
