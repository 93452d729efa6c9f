// SPDX-License-Identifier: Apache-2.0
#include "bench/decision.hpp"

#include "bench/order.hpp"
#include "noise.hpp"

#include "catch.hpp"

#include <cmath>

using namespace cudal1;
using outcome::Verdict;

namespace {

bench::Estimate around(double ratio, double half_width) {
  bench::Estimate estimate;
  estimate.mean = std::log(ratio);
  estimate.half_width = half_width;
  return estimate;
}

// The whole sequential comparison, as the judge does it.
Verdict compare(double true_speedup, std::uint64_t seed, bench::Purpose purpose) {
  NoisyClock clock(seed);
  for (int warm = 0; warm < 100; ++warm) clock.sample(0, 1);
  std::vector<double> ratios;
  for (const int look : bench::looks) {
    const int more = look - static_cast<int>(ratios.size());
    const auto fresh =
        bench::log_ratios(clock.samples(bench::pair_order(more, clock.random()), {1.0, 1 / true_speedup}));
    ratios.insert(ratios.end(), fresh.begin(), fresh.end());
    if (const auto verdict = bench::decide(bench::estimate(ratios, bench::look_alpha, 0.00125), purpose,
                                           look == bench::looks.back()))
      return *verdict;
  }
  return Verdict::inconclusive;
}

}  // namespace

TEST_CASE("a verdict needs the whole interval beyond the margin") {
  using bench::Purpose;
  CHECK(bench::decide(around(1.05, 0.02), Purpose::final_, false) == Verdict::faster);
  CHECK(bench::decide(around(0.95, 0.02), Purpose::final_, false) == Verdict::slower);
  CHECK(bench::decide(around(1.02, 0.02), Purpose::final_, false) == std::nullopt);
  CHECK(bench::decide(around(1.02, 0.02), Purpose::final_, true) == Verdict::inconclusive);
  CHECK(bench::decide(around(1.0, 0.004), Purpose::final_, false) == Verdict::equivalent);
  CHECK(bench::decide(around(1.005, 0.0049), Purpose::final_, false) == Verdict::equivalent);
  CHECK(bench::decide(around(0.99, 0.015), Purpose::final_, false) == std::nullopt);
  CHECK(bench::decide(around(0.99, 0.015), Purpose::screening, false) == Verdict::dropped);
}

TEST_CASE("equal kernels are hardly ever called faster or slower") {
  constexpr int repetitions = 2000;
  int false_claims = 0;
  for (int i = 0; i < repetitions; ++i) {
    const Verdict verdict = compare(1, 5000 + static_cast<std::uint64_t>(i), bench::Purpose::final_);
    false_claims += verdict == Verdict::faster || verdict == Verdict::slower;
  }
  INFO(false_claims << " of " << repetitions);
  CHECK(false_claims <= 0.006 * repetitions);
}

TEST_CASE("a kernel five percent faster is called faster") {
  constexpr int repetitions = 500;
  int right = 0;
  for (int i = 0; i < repetitions; ++i)
    right += compare(1.05, 9000 + static_cast<std::uint64_t>(i), bench::Purpose::screening) == Verdict::faster;
  CHECK(right >= 0.97 * repetitions);
}

TEST_CASE("swapping the arms changes the sign") {
  const std::vector<device::Sample> samples{{0, 0, 2.0, 2.0}, {1, 0, 1.0, 1.0}, {1, 0, 1.0, 1.0}, {0, 0, 2.0, 2.0}};
  auto swapped = samples;
  for (auto& sample : swapped) sample.arm = 1 - sample.arm;
  CHECK(bench::log_ratios(samples) == std::vector<double>{std::log(2), std::log(2)});
  CHECK(bench::log_ratios(swapped) == std::vector<double>{-std::log(2), -std::log(2)});
}

TEST_CASE("a prediction claims only what its model error allows") {
  CHECK(bench::decide_prediction(around(3, 0.7)) == Verdict::faster);
  CHECK(bench::decide_prediction(around(1.5, 0.7)) == Verdict::equivalent);
  CHECK(bench::decide_prediction(around(0.3, 0.7)) == Verdict::slower);
}
