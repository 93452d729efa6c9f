// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "rewriter/index_form.hpp"

#include <set>
#include <string>

using namespace cudal1;

TEST_CASE("an index is a sum of products of names, and what is neither is only known by what it reads") {
  rewriter::Definitions definitions;
  definitions["start"] = rewriter::index_form("row * M", {});
  const auto form = rewriter::index_form("size_t(row) * K + (k + 3) - 2 * (1 + k) + start", definitions);
  using Terms = std::map<kernel::Polynomial::Monomial, std::int64_t>;
  CHECK(form.value.terms() == Terms{{{}, 1}, {{"K", "row"}, 1}, {{"M", "row"}, 1}, {{"k"}, -1}});
  CHECK(rewriter::index_form("(size_t)i * 4 + threadIdx.x", {}).steps_by_one("threadIdx.x"));
  CHECK_FALSE(rewriter::index_form("i * 4 + j", {}).steps_by_one("i"));
  CHECK_FALSE(rewriter::index_form("i + i % M", {}).steps_by_one("i"));
  CHECK_FALSE(rewriter::index_form("i + start", {{"start", rewriter::index_form("i / 2", {})}}).steps_by_one("i"));
  CHECK(rewriter::index_form("j / N + X[i]", {}).all_read() == std::set<std::string>{"X", "i", "j", "N"});
}
