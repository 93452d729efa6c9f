// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/buckets.hpp"

#include <cmath>
#include <map>
#include <numeric>

using namespace cudal1;

namespace {

// Scores in six buckets of width 0.15 in log score, one of them with three members.
const std::vector<double> scores = {0.5, 1.0, 1.05, 1.1, 1.4, 2.0, 2.9, 7.0};

// Upper 1 % points of chi-square for 1 to 10 degrees of freedom.
constexpr double limit[] = {6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09, 21.67, 23.21};

}  // namespace

TEST_CASE("a bucket's probability is the softmax of its mean log score") {
  const double tau = 0.7;
  const auto list = search::buckets(scores, tau, 0.15);
  REQUIRE(list.size() == 6);
  std::vector<double> means;
  for (const auto& bucket : list) {
    double sum = 0;
    for (const auto member : bucket.members) sum += std::log(scores[member]);
    means.push_back(sum / static_cast<double>(bucket.members.size()));
  }
  const double mu = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
  double all = 0;
  for (const double mean : means) all += std::exp((mean - mu) / tau);
  for (std::size_t index = 0; index < list.size(); ++index)
    CHECK(list[index].probability == Approx(std::exp((means[index] - mu) / tau) / all).epsilon(1e-12));
}

TEST_CASE("first draws agree with the formula over 100000 draws") {
  const auto list = search::buckets(scores, 1.0, 0.15);
  std::map<std::size_t, int> counts;
  constexpr int draws = 100000;
  base::Random random(7);
  for (int draw = 0; draw < draws; ++draw) ++counts[search::draw(scores, 2, 1.0, 0.15, random).front()];
  double chi_square = 0;
  int cells = 0;
  for (const auto& bucket : list)
    for (const auto member : bucket.members) {
      const double expected = draws * bucket.probability / static_cast<double>(bucket.members.size());
      chi_square += (counts[member] - expected) * (counts[member] - expected) / expected;
      ++cells;
    }
  CHECK(chi_square < limit[cells - 2]);
}

TEST_CASE("second draws agree with the formula without the first bucket") {
  const std::vector<double> three = {1, 2, 4};
  const auto list = search::buckets(three, 1.0, 0.15);
  std::map<std::pair<std::size_t, std::size_t>, int> counts;
  constexpr int draws = 100000;
  base::Random random(11);
  for (int draw = 0; draw < draws; ++draw) {
    const auto drawn = search::draw(three, 2, 1.0, 0.15, random);
    ++counts[{drawn[0], drawn[1]}];
  }
  double chi_square = 0;
  for (std::size_t first = 0; first < 3; ++first)
    for (std::size_t second = 0; second < 3; ++second) {
      if (first == second) {
        CHECK(counts[{first, second}] == 0);
        continue;
      }
      const double p = list[first].probability * list[second].probability / (1 - list[first].probability);
      chi_square += std::pow(counts[{first, second}] - draws * p, 2) / (draws * p);
    }
  CHECK(chi_square < limit[4]);
}

TEST_CASE("the two exemplars come from distinct buckets while there are two") {
  base::Random random(3);
  for (int draw = 0; draw < 1000; ++draw) {
    const auto drawn = search::draw(scores, 2, 1.0, 0.15, random);
    REQUIRE(drawn.size() == 2);
    CHECK(std::floor(std::log(scores[drawn[0]]) / 0.15) != std::floor(std::log(scores[drawn[1]]) / 0.15));
  }
}

TEST_CASE("a score that takes all the weight does not keep the second draw from ending") {
  base::Random random(5);
  const auto drawn = search::draw({1.0, 1e300, 1.2}, 2, 0.01, 0.15, random);
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[0] == 1);
  CHECK(drawn[1] != 1);
}

TEST_CASE("one bucket gives two different members") {
  base::Random random(5);
  const auto drawn = search::draw({2.0, 2.01}, 2, 1.0, 0.15, random);
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[0] != drawn[1]);
  CHECK(search::draw({2.0}, 2, 1.0, 0.15, random).size() == 1);
  CHECK(search::draw({}, 2, 1.0, 0.15, random).empty());
}
