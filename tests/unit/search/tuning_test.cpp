// SPDX-License-Identifier: Apache-2.0
#include "search/tuning.hpp"

#include "catch.hpp"

#include <cmath>
#include <set>

using namespace cudal1;

namespace {

// 32 x 32 members, the best at (21, 6): time grows with the distance from it.
std::vector<kernel::Environment> grid() {
  std::vector<kernel::Environment> family;
  for (std::int64_t a = 0; a < 32; ++a)
    for (std::int64_t b = 0; b < 32; ++b) family.push_back({{"A", a}, {"B", b}});
  return family;
}

double score(const kernel::Environment& member) {
  const double a = static_cast<double>(std::get<std::int64_t>(member.at("A"))), b = static_cast<double>(std::get<std::int64_t>(member.at("B")));
  return 1 / (1 + std::abs(a - 21) + std::abs(b - 6));
}

struct Tuned {
  std::set<std::size_t> given;
  double best = 0;
};
Tuned tune(search::TuningOrder& order, std::size_t batch) {
  Tuned result;
  for (auto list = order.next(batch); !list.empty(); list = order.next(batch))
    for (const std::size_t member : list) {
      CHECK(result.given.insert(member).second);
      result.best = std::max(result.best, score(order.family()[member]));
      order.told(member, score(order.family()[member]));
    }
  return result;
}

}  // namespace

TEST_CASE("all members of a family are judged once where the budget allows that") {
  search::TuningOrder order(grid(), 1024, 1);
  CHECK(order.exhaustive());
  CHECK(tune(order, 7).given.size() == 1024);
}

TEST_CASE("beyond the budget the neighbours of the best are judged") {
  search::TuningOrder order(grid(), 150, 1);
  CHECK_FALSE(order.exhaustive());
  const Tuned result = tune(order, 4);
  CHECK(result.given.size() == 150);
  CHECK(result.best == 1);
}

TEST_CASE("where nothing is right the budget is spent all the same") {
  search::TuningOrder order(grid(), 100, 1);
  std::set<std::size_t> given;
  for (auto list = order.next(8); !list.empty(); list = order.next(8))
    for (const std::size_t member : list) given.insert(member), order.told(member, 0);
  CHECK(given.size() == 100);
}
