// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/fakes.hpp"
#include "search/lessons.hpp"
#include "search/result.hpp"
#include "search/technique.hpp"
#include "search/technique_use.hpp"

#include <set>

using namespace cudal1;

namespace {

search::Variant tried(const std::string& id, double score, std::vector<std::string> techniques) {
  search::Variant variant;
  variant.id = id;
  variant.techniques = std::move(techniques);
  if (score > 0) {
    variant.judgement = fakes::judgement_of(score);
  } else {
    variant.judgement.verdict = outcome::Verdict::wrong_result;
  }
  return variant;
}

}  // namespace

TEST_CASE("lessons tell what each technique came to, best first") {
  const auto lines = search::lessons({tried("r01-s01", 2, {"fusion"}), tried("r01-s02", 0, {"tensor cores"}),
                                      tried("r02-s01", 3.5, {"fusion", "algebra"}), tried("r02-s02", 0, {"fusion"})});
  CHECK(lines == std::vector<std::string>{"algebra: tried 1×, right 1×, best 3.50× (r02-s01)",
                                          "fusion: tried 3×, right 2×, best 3.50× (r02-s01), last fault WRONG_RESULT",
                                          "tensor cores: tried 1×, right 0×, last fault WRONG_RESULT"});
  CHECK(search::lessons({}).empty());
}

TEST_CASE("a technique's gain is the score of right answers over the best that their prompts showed, or over 1") {
  search::Result result;
  result.variants = {tried("r01-s01", 2, {"fusion"}), tried("r01-s02", 0, {"fusion", "tensor cores"}), tried("r02-s01", 4, {"fusion", "algebra", "fusion"})};
  result.variants[2].exemplars = {"r01-s01", "r01-s02"};
  const auto uses = search::technique_uses(result);
  REQUIRE(uses.size() == 3);
  const search::TechniqueUse &fusion = uses.at("fusion"), &cores = uses.at("tensor cores"), &algebra = uses.at("algebra");
  CHECK((fusion.answers == 3 && fusion.right == 2 && fusion.timed == 2));
  CHECK(fusion.gain == Approx(2));  // 2 over 1, and 4 over 2
  CHECK((cores.answers == 1 && cores.right == 0 && cores.timed == 0 && cores.gain == 1));
  CHECK((algebra.answers == 1 && algebra.gain == Approx(2)));
  result.variants[2].status = search::Variant::Status::duplicate;
  CHECK(search::technique_uses(result).at("fusion").answers == 2);
}

TEST_CASE("parallel samples start from different techniques, the first from none") {
  std::set<std::string> suggested;
  for (int sample = 1; sample <= 8; ++sample) suggested.insert(search::suggest_technique({}, sample));
  CHECK(suggested.size() == 8);
  CHECK(search::suggest_technique({}, 1).empty());
}

TEST_CASE("a technique that failed often is suggested after one that was never tried") {
  std::vector<search::Variant> variants;
  for (int index = 0; index < 6; ++index) variants.push_back(tried("x", 0, {"algebraic regrouping"}));
  CHECK(search::suggest_technique(variants, 2) != "algebra");
  CHECK(search::suggest_technique(variants, 11) == "algebra");
}

TEST_CASE("of techniques tried as often the one that brought more comes first, and each is tried again in time") {
  std::vector<search::Variant> variants;
  for (const auto& technique : search::techniques()) {
    auto variant = tried("x", technique.name() == "tensor cores" ? 30 : 2, {});
    if (technique.marks.empty()) variant.techniques = {std::string(technique.words.front())};
    else variant.source = std::string(technique.marks.front());
    variants.push_back(variant);
  }
  CHECK(search::suggest_technique(variants, 2) == "tensor cores");
  for (int index = 0; index < 20; ++index) {
    variants.push_back(tried("y", 30, {}));
    variants.back().source = "mma.sync";
  }
  CHECK(search::suggest_technique(variants, 2) != "tensor cores");
}

TEST_CASE("a technique is known by what the code shows, and by labels only where code cannot show it") {
  const auto used = [](std::string_view name, const search::Variant& variant) {
    for (const auto& technique : search::techniques())
      if (technique.name() == name) return technique.used_by(variant);
    return false;
  };
  auto variant = tried("x", 2, {"Algebraic simplification", "tensor cores"});
  variant.source = "__global__ void k(const float* A) { float4 v = load(A); }";
  CHECK(used("algebra", variant));
  CHECK(used("vectorised access", variant));
  CHECK_FALSE(used("tensor cores", variant));
  CHECK_FALSE(used("fusion", variant));
}

TEST_CASE("a label with a technique's own name says that it was used, where code cannot show it") {
  for (const auto& technique : search::techniques())
    if (technique.marks.empty()) CHECK(technique.used_by(tried("x", 2, {std::string(technique.name())})));
}
