// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "cuda_code/terms.hpp"

using namespace cudal1;

TEST_CASE("a sum stands alone or behind something, and is 0 without terms") {
  cuda_code::Sum sum;
  CHECK(sum.text() == "0");
  CHECK(sum.behind().empty());
  sum.add("row * M");
  sum.add("column");
  CHECK(sum.text() == "row * M + column");
  CHECK(sum.behind() == " + row * M + column");
}

TEST_CASE("a condition is required once") {
  cuda_code::Conditions conditions;
  for (const char* each : {"MN % 4 == 0", "N % 4 == 0", "MN % 4 == 0"}) conditions.require(each);
  CHECK(conditions.text() == "MN % 4 == 0 && N % 4 == 0");
}
