// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include <cstdio>

TEST_CASE("a case that is skipped") { CUDAL1_SKIP("on purpose"); }

TEST_CASE("the case behind it") {
  CHECK(true);
  std::puts("the case behind it ran");
}

TEST_CASE("a case that fails", "[.]") { CHECK_FALSE(true); }
