// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/ablation.hpp"
#include "search/fakes.hpp"

using namespace cudal1;
using fakes::reply_text;
using fakes::said;
using fakes::variant_source;

namespace {

using Techniques = std::vector<std::string>;

// Writes a winner of 8x by tiling (2x), fusion (4x alone, of use only together with tiling) and unrolling (harms).
model::Reply answer(const model::Question& question) {
  if (question.undo.empty()) return said(reply_text(variant_source(8), "tiling, fusion, unrolling"));
  const Techniques& undo = question.undo;
  if (undo == Techniques{"tiling"}) return said(reply_text(variant_source(2, "a"), "fusion, unrolling"));
  if (undo == Techniques{"fusion"}) return said(reply_text(variant_source(2, "b"), "tiling, unrolling"));
  if (undo == Techniques{"unrolling"}) return said(reply_text(variant_source(10, "c"), "tiling, fusion"));
  if (undo == Techniques{"tiling", "fusion"}) return said(reply_text(variant_source(2, "d"), "unrolling"));
  if (undo == Techniques{"tiling", "unrolling"}) return said(reply_text(variant_source(2.5, "e"), "fusion"));
  return said(reply_text(variant_source(1, "fault WRONG_RESULT"), "tiling"));
}

struct Scene {
  task::Task task = fakes::small_task();
  fakes::Referee referee;
  search::Options options;
  search::Observer observer;
  search::Recall recall;
  Scene() {
    options.rounds = options.samples = 1;
    options.ablate = true;
  }
  search::Result run(model::Model& model) { return search::run(task, referee, {&model}, {}, options, observer, recall, {}); }
};

}  // namespace

TEST_CASE("each technique of the winner and each pair is taken out, and the factors are those of the scores") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) { return answer(question); });
  const auto result = scene.run(model);
  CHECK(model.asked == Techniques{"r01-s01", "r01-s01-without1", "r01-s01-without2", "r01-s01-without3", "r01-s01-without4",
                                  "r01-s01-without5", "r01-s01-without6"});
  CHECK_THAT(model.questions["r01-s01-without4"].user, containing("**tiling** and **fusion**") && containing("score 8.00"));
  const auto ablation = search::ablation(result);
  REQUIRE(ablation.has_value());
  CHECK(ablation->winner->id == "r01-s01");
  REQUIRE(ablation->single.size() == 3);
  REQUIRE(ablation->pairs.size() == 3);
  CHECK(ablation->single[0].value == Approx(4));
  CHECK(ablation->single[1].value == Approx(4));
  CHECK(ablation->single[2].value == Approx(0.8));
  CHECK(ablation->single[2].high < 1);
  CHECK(ablation->pairs[0].value == Approx(4));
  CHECK(ablation->together(ablation->pairs[0]) == search::Together::need);
  CHECK(ablation->together(ablation->pairs[1]) == search::Together::multiply);
  CHECK(ablation->together(ablation->pairs[2]) == search::Together::unknown);
  CHECK_THAT(ablation->pairs[2].problem, containing("WRONG_RESULT"));
}

TEST_CASE("what is better without one of its techniques becomes the winner") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) { return answer(question); });
  const auto result = scene.run(model);
  REQUIRE(result.best() != nullptr);
  CHECK(result.best()->id == "r01-s01-without3");
  CHECK(result.best()->confirmation.has_value());
  CHECK(result.stopped_because == search::Stop::rounds);
}

TEST_CASE("an answer that keeps what it was to lose gives no figure") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.undo.empty()) return said(reply_text(variant_source(8), "tiling, fusion"));
    if (question.undo == Techniques{"tiling"}) return said(reply_text(variant_source(8), "fusion"));
    if (question.undo == Techniques{"fusion"}) return said(reply_text(variant_source(3), "tiling, fusion"));
    return fakes::status(model::Reply::Status::refused, "no");
  });
  const auto result = scene.run(model);
  const auto ablation = search::ablation(result);
  REQUIRE(ablation.has_value());
  CHECK_THAT(ablation->single[0].problem, containing("the winner itself"));
  CHECK_THAT(ablation->single[1].problem, containing("still names it"));
  CHECK_THAT(ablation->pairs[0].problem, containing("refused: no"));
}

TEST_CASE("replies that are missing make the ablation wait, and the verdict stands") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return question.undo.empty() ? answer(question) : fakes::status(model::Reply::Status::pending, "it waits");
  });
  const auto result = scene.run(model);
  CHECK(result.stopped_because == search::Stop::pending);
  CHECK(result.best()->confirmation.has_value());
  CHECK(model.asked.size() == 7);
}

TEST_CASE("without a winner that is faster nothing is taken out") {
  Scene scene;
  fakes::Model model([](const model::Question&, std::stop_token) { return said(reply_text(variant_source(0.5))); });
  const auto result = scene.run(model);
  CHECK(model.asked.size() == 1);
  CHECK_FALSE(search::ablation(result).has_value());
}

TEST_CASE("techniques are taken out one at a time and in pairs, of the first four") {
  CHECK(search::undo_sets({"a"}) == std::vector<Techniques>{{"a"}});
  CHECK(search::undo_sets({"a", "b", "c", "d", "e"}).size() == 10);
}
