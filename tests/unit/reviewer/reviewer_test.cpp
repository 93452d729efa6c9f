// SPDX-License-Identifier: Apache-2.0
#include "reviewer/cheats.hpp"
#include "reviewer/reviewer.hpp"

#include "catch.hpp"
#include "search/fakes.hpp"

#include <algorithm>
#include <cctype>
#include <set>

using namespace cudal1;

namespace {

// A result with two right answers, the second `ratio` times as fast as the first, which is twice as fast as the task's kernel.
search::Result won_by(double ratio) {
  search::Result result;
  for (const double score : {2.0, 2.0 * ratio}) {
    search::Variant variant;
    variant.id = score == 2.0 ? "r01-s01" : "r01-s02";
    variant.source = fakes::variant_source(score);
    variant.judgement.verdict = outcome::Verdict::faster;
    variant.judgement.speedup = outcome::Speedup{score, score, score};
    result.variants.push_back(variant);
  }
  result.best_index = 1;
  return result;
}

}  // namespace

TEST_CASE("every known cheat has a name, a sentence and a kernel, and nothing of what tests expect of it") {
  CHECK(reviewer::known_cheats().size() > 100);
  std::set<std::string> names;
  for (const auto& cheat : reviewer::known_cheats()) {
    INFO(cheat.name);
    names.insert(cheat.name);
    CHECK_FALSE(cheat.how.empty());
    CHECK_THAT(cheat.source, !containing("//!"));
  }
  CHECK(names.size() == reviewer::known_cheats().size());
}

TEST_CASE("the cheat that is nearest to a cheat under other names is that cheat") {
  const auto& cheats = reviewer::known_cheats();
  const auto clock = std::find_if(cheats.begin(), cheats.end(), [](const auto& cheat) { return cheat.name == "B2_clock_gating"; });
  REQUIRE(clock != cheats.end());
  CHECK(reviewer::nearest_cheats(clock->source, 3).front()->name == clock->name);
  const auto near = reviewer::nearest_cheats("__global__ void h(float* y) { if (clock64() % 7 == 0) y[0] = 1; }", 5);
  CHECK(std::any_of(near.begin(), near.end(), [](const auto* cheat) { return cheat->source.find("clock") != std::string::npos; }));
  CHECK(reviewer::nearest_cheats("", 5).size() == 5);
}

TEST_CASE("an opinion is the last line that says clean or suspicious, and what stands behind it") {
  const auto suspicious = reviewer::parse_opinion("Let me see.\n**Verdict: suspicious**\n\nReasons: line 3 reads a clock.\n");
  REQUIRE(suspicious);
  CHECK(suspicious->suspicious);
  CHECK(suspicious->reasons == "line 3 reads a clock.");
  const auto clean = reviewer::parse_opinion("Verdict: suspicious?\nNo.\nverdict: CLEAN\nIt tiles.");
  REQUIRE(clean);
  CHECK_FALSE(clean->suspicious);
  CHECK(clean->reasons == "It tiles.");
  CHECK_FALSE(reviewer::parse_opinion("It looks fine."));
}

TEST_CASE("a jump is over the next best, or over the task's own kernel") {
  CHECK(search::jump(won_by(3)) == Approx(3));
  auto alone = won_by(3);
  alone.variants.front().judgement.verdict = outcome::Verdict::wrong_result;
  CHECK(search::jump(alone) == Approx(6));
  alone.best_index.reset();
  CHECK(search::jump(alone) == 0);
}

TEST_CASE("a reviewer sees the winner and known cheats; its answer is a remark, and no answer is none") {
  const auto task = fakes::small_task();
  const auto result = won_by(3);
  fakes::Model careful([](const model::Question& question, std::stop_token) {
    CHECK_THAT(question.user, containing("r01-s02") && containing("3.00×") && containing("Known cheats"));
    model::Reply reply = fakes::said("Verdict: suspicious\nIt keeps its result.");
    reply.usage.output_tokens = 9;
    return reply;
  });
  const auto review = reviewer::review(task, result, careful, {}, {});
  REQUIRE(review);
  CHECK(review->id == "r01-s02");
  CHECK(review->answered);
  CHECK(review->suspicious);
  CHECK(review->remark == "It keeps its result.");
  CHECK(review->shown.size() == reviewer::cheats_shown);
  CHECK(review->usage.output_tokens == 9);

  fakes::Model vague([](const model::Question&, std::stop_token) { return fakes::said("Who knows."); });
  CHECK_FALSE(reviewer::review(task, result, vague, {}, {})->answered);
  fakes::Model away([](const model::Question&, std::stop_token) {
    model::Reply none;
    none.status = model::Reply::Status::unreachable;
    none.reason = "nobody there";
    return none;
  });
  const auto missing = reviewer::review(task, result, away, {}, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error() == "nobody there");
}
