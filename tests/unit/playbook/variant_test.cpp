// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "families/families.hpp"

#include <set>
#include <string>
#include <vector>

using namespace cudal1;
using families::Variant;

TEST_CASE("every variant has a label of its own, in the order in which equals are offered") {
  std::vector<std::string> labels;
  for (const Variant& variant : families::variants()) labels.emplace_back(variant.label);
  CHECK(labels == std::vector<std::string>{"fused", "packed columns", "columns", "tensor cores", "warpgroups", "by cost", "straight warpgroups", "tensor cores, gathered", "totals", "ahead",
                                           "trailing teams", "teams that meet once", "teams", "streamed", "wide", "reread",
                                           "wide streamed", "reductions apart", "unsplit", "three steps", "plain", "unfused"});
  CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
}
