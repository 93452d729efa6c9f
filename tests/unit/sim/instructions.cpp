// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "instruction_case.hpp"

using namespace cudal1;
using namespace cudal1::sim::test;

TEST_CASE("every instruction of the table gives PTX's results, with all lanes and with some") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const auto cases = instruction_cases();
  REQUIRE(cases.size() >= 1100);
  std::size_t wrong = 0;
  for (const auto& one : cases)
    for (const std::uint32_t threads : {32u, 19u}) {
      if (one.whole_warp() && threads < 32) continue;
      std::string difference;
      try {
        difference = run_case(*device, one, threads);
      } catch (const std::exception& problem) {
        difference = problem.what();
      }
      if (difference.empty()) continue;
      if (++wrong <= 40) UNSCOPED_INFO(difference);
      break;
    }
  CHECK(wrong == 0);
}
