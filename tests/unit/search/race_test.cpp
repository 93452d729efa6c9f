// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/fakes.hpp"

using namespace cudal1;
using fakes::reply_text;
using fakes::said;
using fakes::variant_source;

namespace {

class Log final : public search::Observer {
 public:
  void judged(const search::Variant& variant) override { lines.push_back("judged " + variant.id); }
  void improved(const search::Variant& variant) override { lines.push_back(fmt::format("improved {} {:.3f}", variant.id, variant.score())); }
  void raced(const search::Race& race) override { lines.push_back(fmt::format("raced {}", race.racers.size())); }
  void round_finished(const search::Round& round) override {
    lines.push_back(fmt::format("round {} {:.3f}", round.round, round.best_so_far));
  }
  std::vector<std::string> lines;
};

struct Scene {
  explicit Scene(int rounds, bool measured = true) {
    if (measured) referee.measure();
    options.rounds = rounds;
    options.samples = 3;
  }
  // Each reply's source as `answers` has it, by its key.
  search::Result run(std::map<std::string, std::string> answers) {
    fakes::Model model([&](const model::Question& question, std::stop_token) {
      questions[question.key.text()] = question;
      return said(reply_text(answers.at(question.key.text())));
    });
    return search::run(task, referee, {&model}, templates, options, log, recall, {});
  }
  static const search::Variant& of(const search::Result& result, const std::string& id) {
    return *std::find_if(result.variants.begin(), result.variants.end(), [&](const auto& variant) { return variant.id == id; });
  }

  task::Task task = fakes::small_task();
  fakes::Referee referee;
  prompt::Templates templates;
  search::Options options;
  Log log;
  search::Recall recall;
  std::map<std::string, model::Question> questions;
};

}  // namespace

TEST_CASE("variants that their screenings cannot tell apart race, and the faster one by turns is the best") {
  Scene scene(1);
  const auto result = scene.run({{"r01-s01", variant_source(2.02, "true 1.98")},
                                 {"r01-s02", variant_source(2.00, "true 2.04")},
                                 {"r01-s03", variant_source(1.50)}});
  // 1.50 [1.47, 1.53] is surely behind.
  CHECK(scene.referee.raced == std::vector<std::vector<std::string>>{{"r01-s01.cu", "r01-s02.cu"}});
  REQUIRE(result.races.size() == 1);
  CHECK(result.races[0].racers[0].id == "r01-s02");
  CHECK(scene.of(result, "r01-s02").judgement.score() / scene.of(result, "r01-s01").judgement.score() == Approx(2.04 / 1.98));
  // Their level is that of both screenings.
  CHECK(scene.of(result, "r01-s02").judgement.score() * scene.of(result, "r01-s01").judgement.score() == Approx(2.02 * 2.00));
  CHECK(scene.of(result, "r01-s03").judgement.score() == 1.5);
  CHECK_THAT(scene.of(result, "r01-s01").judgement.message, containing("over r01-s02, the fastest in a race of 2; screened alone: 2.020x"));
  CHECK(scene.referee.confirmed.front() == "r01-s02.cu");
  CHECK(result.best()->id == "r01-s02");
  CHECK(scene.log.lines == std::vector<std::string>{"judged r01-s01", "improved r01-s01 2.020", "judged r01-s02", "judged r01-s03",
                                                    "raced 2", "improved r01-s02 2.040", "round 1 2.040"});
}

TEST_CASE("the best so far races with a round that comes near it, and keeps its speed-up") {
  Scene scene(2);
  const auto result = scene.run({{"r01-s01", variant_source(2.00, "true 3.0")},
                                 {"r01-s02", variant_source(1.30)},
                                 {"r01-s03", variant_source(1.10)},
                                 {"r02-s01", variant_source(2.03, "true 2.9")},
                                 {"r02-s02", variant_source(1.99, "true 3.1")},
                                 {"r02-s03", variant_source(1.20)}});
  CHECK(scene.referee.raced == std::vector<std::vector<std::string>>{{"r01-s01.cu", "r02-s01.cu", "r02-s02.cu"}});
  CHECK(scene.of(result, "r01-s01").judgement.score() == 2.00);
  CHECK(scene.of(result, "r02-s01").judgement.score() == Approx(2.00 * 2.9 / 3.0));
  CHECK(scene.of(result, "r02-s02").judgement.score() == Approx(2.00 * 3.1 / 3.0));
  CHECK(result.rounds.back().best_so_far == Approx(2.00 * 3.1 / 3.0));
}

TEST_CASE("the next round's exemplars and their scores are what the race left") {
  Scene scene(2);
  scene.options.samples = 2;
  scene.run({{"r01-s01", variant_source(2.02, "true 1.98")},
             {"r01-s02", variant_source(2.00, "true 2.04")},
             {"r02-s01", variant_source(1.2)},
             {"r02-s02", variant_source(1.3)}});
  const auto& shown = scene.questions["r02-s01"].exemplars;
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].id == "r01-s01");
  CHECK(shown[1].id == "r01-s02");
  CHECK(shown[1].judgement.score() > shown[0].judgement.score());
}

TEST_CASE("what is the same as a racer shares its speed-up") {
  Scene scene(1);
  const auto result = scene.run({{"r01-s01", variant_source(2.02, "true 1.98")},
                                 {"r01-s02", variant_source(2.00, "true 2.04")},
                                 {"r01-s03", variant_source(2.00, "true 2.04")}});
  CHECK(scene.of(result, "r01-s03").status == search::Variant::Status::duplicate);
  CHECK(scene.referee.raced.front().size() == 2);
  CHECK(scene.of(result, "r01-s03").judgement.score() == scene.of(result, "r01-s02").judgement.score());
  CHECK(scene.of(result, "r01-s03").judgement.score() > 2.0);
}

TEST_CASE("nothing races where screenings tell variants apart, or where they are not faster") {
  Scene scene(1);
  scene.run({{"r01-s01", variant_source(2.00)}, {"r01-s02", variant_source(1.80)}, {"r01-s03", variant_source(0.99)}});
  CHECK(scene.referee.raced.empty());
  Scene slow(1);
  slow.run({{"r01-s01", variant_source(0.99)}, {"r01-s02", variant_source(1.00)}, {"r01-s03", variant_source(1.01)}});
  CHECK(slow.referee.raced.empty());
}

TEST_CASE("predictions do not race") {
  Scene scene(1, false);
  const auto result = scene.run({{"r01-s01", variant_source(2.01)}, {"r01-s02", variant_source(2.00)}, {"r01-s03", variant_source(1.99)}});
  CHECK(scene.referee.raced.empty());
  CHECK(result.races.empty());
}

TEST_CASE("a race that fails leaves the screenings as they were, and says why") {
  Scene scene(1);
  scene.referee.race_problem = "WRONG_RESULT: one of them wrote another value";
  const auto result = scene.run({{"r01-s01", variant_source(2.02)}, {"r01-s02", variant_source(2.00)}, {"r01-s03", variant_source(1.10)}});
  REQUIRE(result.races.size() == 1);
  CHECK(result.races[0].problem == scene.referee.race_problem);
  CHECK(result.races[0].racers.empty());
  CHECK(scene.of(result, "r01-s01").judgement.score() == 2.02);
  CHECK(result.best()->id == "r01-s01");
}
