// SPDX-License-Identifier: Apache-2.0
#include "bench/race.hpp"
#include "catch.hpp"
#include "noise.hpp"

#include <algorithm>

using namespace cudal1;

namespace {

bench::Race run(NoisyClock& clock, const std::vector<double>& times, int rounds, double tick_ms = 0) {
  bench::Race race(times.size());
  while (!race.decided() && race.rounds() < rounds) race.add(clock.samples(race.round(clock.random()), times), tick_ms);
  return race;
}

}  // namespace

TEST_CASE("a race finds the best member with few launches") {
  int right = 0, launches = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    NoisyClock clock(seed);
    std::vector<double> times;
    for (int member = 0; member < 16; ++member) times.push_back(0.8 + 0.02 * ((member * 7) % 16));
    const auto race = run(clock, times, 64);
    for (std::size_t member = 0; member < times.size(); ++member) launches += race.turns(member);
    right += race.best() == static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
  }
  CHECK(right >= 48);
  CHECK(launches < 50 * 16 * 20);
}

TEST_CASE("a race tells variants apart that lie half a percent from each other, and hardly ever sends the best away") {
  constexpr int races = 400;
  int right = 0, lost = 0, held = 0;
  for (std::uint64_t seed = 0; seed < races; ++seed) {
    NoisyClock clock(seed);
    const auto race = run(clock, {0.1010, 0.1005, 0.1, 0.1015}, 64);
    const auto& left = race.survivors();
    lost += std::find(left.begin(), left.end(), 2) == left.end();
    right += race.best() == 2;
    const auto over = race.over(0, 2);   // 1 % slower, as long as it took part
    held += over.low() <= std::log(0.1 / 0.1010) && std::log(0.1 / 0.1010) <= over.high();
  }
  CHECK(lost <= races * 2 / 100);
  CHECK(right >= races * 97 / 100);
  CHECK(held >= races * 96 / 100);
}

TEST_CASE("equal members stay in a race to its end") {
  constexpr int races = 200;
  int left = 0;
  for (std::uint64_t seed = 0; seed < races; ++seed) {
    NoisyClock clock(seed);
    left += static_cast<int>(run(clock, {0.1, 0.1, 0.1}, 64).survivors().size());
  }
  CHECK(left >= 3 * races * 95 / 100);
}

TEST_CASE("a race by a coarse clock sends away nobody who is equal within a tick") {
  int sent_away = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    base::Random random(seed, 0);
    bench::Race race(2);
    while (!race.decided() && race.rounds() < 64) {
      std::vector<device::Sample> samples;
      // 6.01 and 6.02 us by a clock of 32 ns: one reads always the same, the other one tick more.
      for (const std::size_t member : race.round(random)) samples.push_back({member, 0, member == 0 ? 0.006016 : 0.006032, 0});
      race.add(samples, 0.000032);
    }
    sent_away += race.decided();
  }
  CHECK(sent_away == 0);
}
