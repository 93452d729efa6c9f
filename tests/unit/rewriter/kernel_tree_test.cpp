// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "rewriter/kernel_tree.hpp"

#include <set>
#include <string>

using namespace cudal1;

TEST_CASE("loads are certain where no condition stands before them") {
  const auto tree = rewriter::kernel_tree(
      "__global__ void k(float* a) { float x = a[0] > 0 ? a[1] : a[2]; if (a[3] > 0) { x = a[4]; } for (int i = 0; i < 9; ++i) x += a[i]; a[5] = x; }", "k");
  REQUIRE(tree.has_value());
  CHECK(rewriter::certain_accesses(tree->body) == std::set<std::string>{"a[0]", "a[3]", "a[5]"});
}
