// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "catch.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

using cudal1::base::in_parallel;

TEST_CASE("work in parallel is done once each") {
  std::vector<std::atomic<int>> done(100);
  in_parallel(done.size(), [&](std::size_t i) { ++done[i]; });
  for (const auto& count : done) CHECK(count == 1);
  in_parallel(0, [](std::size_t) { FAIL("nothing is to be done"); });
}

TEST_CASE("an exception of parallel work reaches the caller after all is done") {
  std::atomic<int> done{0};
  CHECK_THROWS_AS(in_parallel(8, [&](std::size_t i) { if (++done, i == 3) throw std::runtime_error("three"); }), std::runtime_error);
  CHECK(done == 8);
}
