// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/random.hpp"
#include "catch.hpp"
#include "search/fakes.hpp"

#include <chrono>
#include <thread>

using namespace cudal1;
using fakes::reply_text;
using fakes::said;
using fakes::variant_source;
using Status = model::Reply::Status;

namespace {

// Writes down what it is told.
class Log final : public search::Observer {
 public:
  void started(const search::Start&) override { lines.push_back("started"); }
  void asked(const model::Question& question, const std::string&) override { lines.push_back("asked " + question.key.text()); }
  void replied(const model::Key& key, const std::string&, const model::Reply&) override { lines.push_back("replied " + key.text()); }
  void judged(const search::Variant& variant) override {
    lines.push_back("judged " + variant.id + " " + std::string(search::name(variant.status)));
  }
  void round_finished(const search::Round& round) override { lines.push_back(fmt::format("round {}", round.round)); }
  void confirmed(const search::Variant& variant) override { lines.push_back("confirmed " + variant.id); }
  void stopped(const search::Result& result) override { lines.push_back("stopped " + std::string(search::name(result.stopped_because))); }
  std::vector<std::string> lines;
};

// A few seconds at most: what does not come is for the check behind it to say.
template <typename Condition>
void wait_until(const Condition& condition) {
  for (const auto begin = base::now(); !condition() && base::now() - begin < base::Seconds(5);)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Scene {
  task::Task task = fakes::small_task();
  fakes::Referee referee;
  prompt::Templates templates;
  search::Options options;
  Log log;
  search::Recall recall;
  std::stop_source stop;

  search::Result run(std::vector<model::Model*> models) {
    return search::run(task, referee, models, templates, options, log, recall, stop.get_token());
  }
  search::Result run(model::Model& model) { return run(std::vector<model::Model*>{&model}); }
};

}  // namespace

TEST_CASE("the first round shows no variant, and the second shows the reference beside a lone success") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 1;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(question.key.round * 2.0)));
  });
  const auto result = scene.run(model);
  CHECK(model.questions["r01-s01"].exemplars.empty());
  const auto& shown = model.questions["r02-s01"].exemplars;
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].id == "reference");
  CHECK(shown[0].judgement.score() == 1.0);
  CHECK(shown[1].id == "r01-s01");
  CHECK_THAT(model.questions["r02-s01"].user, containing("score 2.00×"));
  REQUIRE(result.best() != nullptr);
  CHECK(result.best()->id == "r02-s01");
  CHECK(result.best()->confirmation.has_value());
}

TEST_CASE("later rounds show two variants of different scores, the faster one last") {
  Scene scene;
  scene.options.rounds = 3;
  scene.options.samples = 3;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(question.key.round + 0.4 * question.key.sample)));
  });
  scene.run(model);
  for (int sample = 1; sample <= 3; ++sample) {
    const auto& shown = model.questions[fmt::format("r03-s{:02}", sample)].exemplars;
    REQUIRE(shown.size() == 2);
    CHECK(shown[0].judgement.score() < shown[1].judgement.score());
  }
}

TEST_CASE("a variant that failed gets one repair, and an unrepaired failure is shown in the next round") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 2;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.key.sample == 2) return said(reply_text(variant_source(2)));
    return said(reply_text(variant_source(1, fmt::format("fault WRONG_RESULT {}", question.key.text()))));
  });
  const auto result = scene.run(model);
  CHECK(model.asked == std::vector<std::string>{"r01-s01", "r01-s02", "r01-s01-repair", "r02-s01", "r02-s02", "r02-s01-repair"});
  CHECK_THAT(model.questions["r01-s01-repair"].user, containing("WRONG_RESULT") && containing("its result is wrong"));
  REQUIRE(model.questions["r02-s01"].failure.has_value());
  CHECK(model.questions["r02-s01"].failure->id == "r01-s01-repair");
  CHECK(result.variants[2].repairs == "r01-s01");
  CHECK(result.rounds.size() == 2);
}

TEST_CASE("of failures of several kinds the latest is shown whole, and one of each other kind by its message") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 3;
  scene.options.repair = false;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    const char* const faults[] = {"fault WRONG_RESULT", "fault COMPILE_FAILED", "fault WRONG_RESULT"};
    if (question.key.round > 1) return said(reply_text(variant_source(3)));
    return said(reply_text(variant_source(1, fmt::format("{} {}", faults[question.key.sample - 1], question.key.text()))));
  });
  scene.run(model);
  const auto& question = model.questions["r02-s01"];
  REQUIRE(question.failure.has_value());
  CHECK(question.failure->id == "r01-s03");
  CHECK_THAT(question.user, containing("- r01-s02: COMPILE_FAILED: ") && !containing("- r01-s01: "));
}

TEST_CASE("without exemplars every round is a first one: no failure of an earlier round, and the same techniques to start from") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 2;
  scene.options.repair = false;
  scene.options.sampling = search::Sampling::none;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.key.sample == 2) return said(reply_text(variant_source(2 + question.key.round)));
    return said(reply_text(variant_source(1, fmt::format("fault WRONG_RESULT {}", question.key.text()))));
  });
  scene.run(model);
  for (const std::string sample : {"s01", "s02"}) CHECK(model.questions["r02-" + sample].user == model.questions["r01-" + sample].user);
}

TEST_CASE("a failure that was repaired is shown no more") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 1;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(2, question.key.attempt == 0 && question.key.round == 1 ? "fault COMPILE_FAILED" : "")));
  });
  scene.run(model);
  CHECK_FALSE(model.questions["r02-s01"].failure.has_value());
}

TEST_CASE("a reply that is no answer is asked for again in the right form") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 1;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(question.key.attempt == 0 ? "Here is a poem." : reply_text(variant_source(3)));
  });
  const auto result = scene.run(model);
  REQUIRE(result.variants.size() == 2);
  CHECK(result.variants[0].status == search::Variant::Status::malformed);
  CHECK_THAT(result.variants[0].reason, containing("holds no code"));
  CHECK_THAT(model.questions["r01-s01-repair"].user, containing("Here is a poem."));
  CHECK(result.best()->id == "r01-s01-repair");
}

TEST_CASE("the same source again costs no judgement") {
  Scene scene;
  scene.options.rounds = 2;
  scene.options.samples = 2;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text((question.key.sample == 2 ? "// Another comment.\n" : "") + variant_source(2)));
  });
  const auto result = scene.run(model);
  CHECK(scene.referee.screened == std::vector<std::string>{"r01-s01.cu"});
  CHECK(result.judged() == 1);
  CHECK(result.variants[3].status == search::Variant::Status::duplicate);
  CHECK(result.variants[3].same_as == "r01-s01");
  CHECK(result.rounds[1].duplicates == 2);
}

TEST_CASE("final verdicts are taken best first until one holds") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 4;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    const double score = question.key.sample + 1.0;
    return said(reply_text(variant_source(score, score > 3.5 ? "final WRONG_RESULT" : "")));
  });
  const auto result = scene.run(model);
  CHECK(scene.referee.confirmed == std::vector<std::string>{"r01-s04.cu", "r01-s03.cu", "r01-s02.cu"});
  REQUIRE(result.best() != nullptr);
  CHECK(result.best()->id == "r01-s02");
  CHECK(result.variants[3].score() == 0);
}

TEST_CASE("nothing faster: nothing is confirmed, and the best that is right is named") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 2;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(0.3 * question.key.sample)));
  });
  const auto result = scene.run(model);
  CHECK(scene.referee.confirmed.empty());
  CHECK(result.best()->id == "r01-s02");
}

TEST_CASE("pending replies stop the run after every prompt of the round was put") {
  Scene scene;
  scene.options.samples = 3;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.key.sample == 2) return fakes::status(Status::pending, "r01-s02.prompt.md waits");
    return said(reply_text(variant_source(question.key.sample)));
  });
  const auto result = scene.run(model);
  CHECK(result.stopped_because == search::Stop::pending);
  CHECK(search::resumable(result.stopped_because));
  CHECK_THAT(result.reason, containing("waits"));
  CHECK(model.asked.size() == 3);
  CHECK(result.variants.size() == 1);
  CHECK(result.rounds.empty());
  CHECK(scene.referee.confirmed.empty());
}

TEST_CASE("an unreachable model ends the run with its reason, and what was found is confirmed") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.key.round == 2) throw std::runtime_error("connection refused");
    return said(reply_text(variant_source(question.key.sample + 1)));
  });
  const auto result = scene.run(model);
  CHECK(result.stopped_because == search::Stop::model_unreachable);
  CHECK_THAT(result.reason, containing("scripted") && containing("connection refused"));
  CHECK(result.variants.size() == 4);
  CHECK(result.best()->confirmation.has_value());
}

TEST_CASE("a replay that is at its end ends the run in order") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    if (question.key.round == 3) return fakes::status(Status::exhausted, "it ends with r02-s04");
    return said(reply_text(variant_source(question.key.sample + question.key.round)));
  });
  const auto result = scene.run(model);
  CHECK(result.stopped_because == search::Stop::replies_exhausted);
  CHECK(result.rounds.size() == 2);
  CHECK(result.best()->confirmation.has_value());
}

TEST_CASE("a refusal is kept with its reason and not repaired") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 1;
  fakes::Model model([](const model::Question&, std::stop_token) { return fakes::status(Status::refused, "frontier_llm"); });
  const auto result = scene.run(model);
  REQUIRE(result.variants.size() == 1);
  CHECK(result.variants[0].status == search::Variant::Status::refused);
  CHECK(result.variants[0].reason == "frontier_llm");
  CHECK(model.asked.size() == 1);
  CHECK(result.best() == nullptr);
}

TEST_CASE("an interrupt lets the variant at hand be finished") {
  Scene scene;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(question.key.sample + 1)));
  });
  scene.referee.on_screen = [&] {
    if (scene.referee.screened.size() == 2) scene.stop.request_stop();
  };
  const auto result = scene.run(model);
  CHECK(result.stopped_because == search::Stop::interrupted);
  CHECK(result.variants.size() == 2);
  CHECK(scene.referee.confirmed.empty());
  CHECK(result.best()->id == "r01-s02");
  CHECK(scene.log.lines.back() == "stopped interrupted");
}

TEST_CASE("each limit stops the run and is named") {
  Scene scene;
  scene.options.rounds = 9;
  scene.options.samples = 1;
  fakes::Model model([](const model::Question& question, std::stop_token) {
    return said(reply_text(variant_source(std::min(question.key.round * 1.0, 4.0), question.key.text())));
  });
  SECTION("target") {
    scene.options.target_speedup = 3;
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::target_speedup);
    CHECK(result.variants.size() == 3);
  }
  SECTION("share of the speed of light") {
    scene.options.share_of_limit = 0.2;
    CHECK(scene.run(model).stopped_because == search::Stop::share_of_limit);
  }
  SECTION("stagnation") {
    scene.options.stagnation = 2;
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::stagnation);
    CHECK(result.rounds.size() == 6);
  }
  SECTION("wall time") {
    scene.options.wall_limit = base::Seconds(0);
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::wall_limit);
    CHECK(result.variants.empty());
  }
  SECTION("tokens") {
    scene.options.token_limit = 400;
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::token_limit);
    CHECK(result.usage.input_tokens + result.usage.output_tokens == 450);
  }
  SECTION("cost that nobody can count") {
    fakes::Model untold([](const model::Question& question, std::stop_token) {
      auto reply = said(reply_text(variant_source(2, question.key.text())));
      reply.usage.priced = question.key.round < 2;
      return reply;
    });
    scene.options.cost_limit = 100;
    const auto result = scene.run(untold);
    CHECK(result.stopped_because == search::Stop::cost_limit);
    CHECK(result.reason == "a reply came without its price, which --cost-limit needs");
    CHECK(result.variants.size() == 2);
  }
  SECTION("cost") {
    scene.options.cost_limit = 0.025;
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::cost_limit);
    CHECK(result.variants.size() == 3);
  }
}

TEST_CASE("a kernel to start from is judged first and shown") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 1;
  scene.options.start_from = variant_source(5);
  fakes::Model model([](const model::Question&, std::stop_token) { return said(reply_text(variant_source(2))); });
  const auto result = scene.run(model);
  CHECK(result.variants.front().id == "start");
  REQUIRE(model.questions["r01-s01"].exemplars.size() == 2);
  CHECK(model.questions["r01-s01"].exemplars[1].id == "start");
  CHECK(result.best()->id == "start");
}

TEST_CASE("a model to start from answers before the first round, whose prompts show its answers") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 2;
  fakes::Model rules([](const model::Question& question, std::stop_token) {
    model::Reply none;
    none.status = Status::exhausted;
    if (question.key.sample > 1) return none;
    return said(reply_text(variant_source(4)));
  });
  scene.options.starter = &rules;
  fakes::Model model([](const model::Question& question, std::stop_token) { return said(reply_text(variant_source(1.0 + question.key.sample))); });
  const auto result = scene.run(model);
  REQUIRE(result.variants.size() == 3);
  CHECK(result.variants.front().id == "r00-s01");
  REQUIRE(model.questions["r01-s01"].exemplars.size() == 2);
  CHECK(model.questions["r01-s01"].exemplars[1].id == "r00-s01");
  CHECK(result.stopped_because == search::Stop::rounds);
  CHECK(result.rounds.size() == 1);
  CHECK(result.best()->id == "r00-s01");
}

TEST_CASE("hidden scores are nowhere in a prompt, and the order of variants says nothing") {
  int rising = 0, asked = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Scene scene;
    scene.options.seed = seed;
    scene.options.rounds = 3;
    scene.options.samples = 2;
    scene.options.show_scores = false;
    fakes::Model model([](const model::Question& question, std::stop_token) {
      return said(reply_text(variant_source(question.key.round * 2.0 + question.key.sample)));
    });
    scene.run(model);
    for (const char* key : {"r02-s01", "r03-s01", "r03-s02"}) {
      const model::Question& question = model.questions[key];
      REQUIRE(question.exemplars.size() == 2);
      CHECK_THAT(question.user, !containing(", score") && !containing("×") && !containing("What has been tried"));
      CHECK_THAT(question.user, containing(question.exemplars[0].id) && containing(question.exemplars[1].id));
      rising += question.exemplars[0].judgement.score() < question.exemplars[1].judgement.score() ? 1 : 0, ++asked;
    }
  }
  CHECK(rising > 0);
  CHECK(rising < asked);
}

TEST_CASE("equal seeds tell equal stories, other seeds others") {
  std::vector<std::vector<std::string>> stories;
  std::vector<std::string> winners;
  for (const std::uint64_t seed : {1, 1, 2}) {
    Scene scene;
    scene.options.seed = seed;
    fakes::Model model(fakes::climb);
    const auto result = scene.run(model);
    for (const auto& variant : result.variants)
      for (const auto& exemplar : variant.exemplars) scene.log.lines.push_back(variant.id + " saw " + exemplar);
    stories.push_back(scene.log.lines);
  }
  CHECK(stories[0] == stories[1]);
  CHECK(stories[0] != stories[2]);
}

TEST_CASE("parallel replies in any order of arrival give the result of sequential ones") {
  Scene sequential;
  fakes::Model one(fakes::climb);
  const auto expected = sequential.run(one);
  for (int trial = 0; trial < 3; ++trial) {
    Scene scene;
    fakes::Model many(
        [trial](const model::Question& question, std::stop_token) {
          std::this_thread::sleep_for(std::chrono::milliseconds((question.seed >> trial) % 7));
          return fakes::climb(question);
        },
        4);
    const auto result = scene.run(many);
    REQUIRE(result.variants.size() == expected.variants.size());
    for (std::size_t index = 0; index < result.variants.size(); ++index) {
      CHECK(result.variants[index].id == expected.variants[index].id);
      CHECK(result.variants[index].source == expected.variants[index].source);
      CHECK(result.variants[index].status == expected.variants[index].status);
    }
    CHECK(result.best_index == expected.best_index);
  }
}

TEST_CASE("the first question of a round is put alone, the others together") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 5;
  std::atomic<int> under_way = 0, most = 0;
  std::atomic<bool> first_alone = true;
  fakes::Model model(
      [&](const model::Question& question, std::stop_token) {
        const int now = ++under_way;
        if (question.key.sample == 1 && now != 1) first_alone = false;
        most = std::max<int>(most, now);
        if (question.key.sample == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(60));
          if (under_way != 1) first_alone = false;
        } else {
          wait_until([&] { return most == 4; });
        }
        --under_way;
        return said(reply_text(variant_source(question.key.sample)));
      },
      8);
  scene.run(model);
  CHECK(first_alone);
  CHECK(most == 4);
}

TEST_CASE("replies that arrive while a variant is judged are told at once") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 3;
  fakes::Model model([](const model::Question& question, std::stop_token) { return said(reply_text(variant_source(question.key.sample))); }, 4);
  scene.referee.on_screen = [] { std::this_thread::sleep_for(std::chrono::milliseconds(80)); };
  scene.run(model);
  const auto at = [&](const std::string& line) { return std::find(scene.log.lines.begin(), scene.log.lines.end(), line); };
  CHECK(at("replied r01-s03") < at("judged r01-s01 judged"));
}

TEST_CASE("a judge that throws while replies are under way leaves no thread behind") {
  Scene scene;
  fakes::Model model(
      [](const model::Question& question, std::stop_token) {
        if (question.key.sample > 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return said(reply_text(variant_source(question.key.sample)));
      },
      4);
  scene.referee.on_screen = [] { throw base::Error(base::Fault::no_device, "the device is lost"); };
  CHECK_THROWS_WITH(scene.run(model), "the device is lost");
}

TEST_CASE("a cost limit with questions under way is exceeded by one reply at most") {
  for (std::uint64_t schedule = 0; schedule < 100; ++schedule) {
    Scene scene;
    scene.options.rounds = 4;
    scene.options.samples = 8;
    scene.options.repair = false;
    scene.options.cost_limit = 0.05 + 0.01 * static_cast<double>(schedule % 10);
    base::Random random(schedule);
    std::mutex mutex;
    fakes::Model model(
        [&](const model::Question& question, std::stop_token) {
          std::uint64_t pause;
          {
            const std::lock_guard lock(mutex);
            pause = random.below(300);
          }
          std::this_thread::sleep_for(std::chrono::microseconds(pause));
          return said(reply_text(variant_source(1.5 + question.key.round, question.key.text())));
        },
        1 + static_cast<int>(schedule % 8));
    const auto result = scene.run(model);
    CHECK(result.stopped_because == search::Stop::cost_limit);
    CHECK(result.usage.cost < *scene.options.cost_limit + 0.01 + 1e-9);
  }
}

TEST_CASE("no limit is exceeded by more than one reply, whatever the replies take and in whatever order they come") {
  for (std::uint64_t schedule = 0; schedule < 100; ++schedule) {
    Scene scene;
    scene.options.rounds = 4;
    scene.options.samples = 8;
    scene.options.repair = false;
    const bool by_cost = schedule % 2 == 0;
    const long long limit = 6000 + 500 * static_cast<long long>(schedule % 20);
    if (by_cost) scene.options.cost_limit = 0.001 * static_cast<double>(limit);
    else scene.options.token_limit = limit;
    base::Random random(schedule);
    std::mutex mutex;
    std::atomic<long long> largest = 0;
    fakes::Model model(
        [&](const model::Question& question, std::stop_token) {
          std::uint64_t pause;
          model::Reply reply = said(reply_text(variant_source(1.5 + question.key.round, question.key.text())));
          {
            const std::lock_guard lock(mutex);
            pause = random.below(300);
            // Mostly short, now and then as long as the model declares.
            reply.usage.output_tokens = random.below(4) == 0 ? 1000 : 1 + static_cast<long long>(random.below(100));
            reply.usage.cost = 0.001 * static_cast<double>(reply.usage.input_tokens + reply.usage.output_tokens);
            largest = std::max<long long>(largest, reply.usage.input_tokens + reply.usage.output_tokens);
          }
          std::this_thread::sleep_for(std::chrono::microseconds(pause));
          return reply;
        },
        1 + static_cast<int>(schedule % 8));
    model.most_output_ = 1000;
    model.dollars_per_token_ = 0.001;
    const auto result = scene.run(model);
    const auto spent = result.usage.input_tokens + result.usage.output_tokens;
    CHECK(spent < limit + largest);
    if (result.stopped_because != search::Stop::rounds)
      CHECK(result.stopped_because == (by_cost ? search::Stop::cost_limit : search::Stop::token_limit));
  }
}

TEST_CASE("several variants are screened at once where the referee can, and told in order") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 8;
  scene.referee.at_once = 4;
  std::atomic<int> at_work = 0, most = 0;
  scene.referee.on_screen = [&] {
    most = std::max<int>(most, ++at_work);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    --at_work;
  };
  fakes::Model model(
      [](const model::Question& question, std::stop_token) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * (9 - question.key.sample)));
        return said(reply_text(variant_source(question.key.sample)));
      },
      8);
  const auto result = scene.run(model);
  CHECK(most > 1);
  CHECK(most <= 4);
  REQUIRE(result.variants.size() == 8);
  for (std::size_t index = 0; index < 8; ++index) CHECK(result.variants[index].judgement.score() == static_cast<double>(index + 1));
}

TEST_CASE("a variant is screened while the model writes the next one") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 4;
  scene.referee.at_once = 2;
  std::atomic<bool> screening = false, both = false;
  scene.referee.on_screen = [&] {
    screening = true;
    wait_until([&] { return both.load(); });
    screening = false;
  };
  fakes::Model model([&](const model::Question& question, std::stop_token) {
    if (question.key.sample > 1) {
      wait_until([&] { return screening.load(); });
      if (screening) both = true;
    }
    return said(reply_text(variant_source(question.key.sample)));
  });
  scene.run(model);
  CHECK(both);
}

TEST_CASE("several models take turns before anything is known of them") {
  Scene scene;
  scene.options.rounds = 1;
  scene.options.samples = 4;
  fakes::Model a(fakes::climb), b(fakes::climb);
  a.name_ = "a";
  b.name_ = "b";
  scene.options.repair = false;
  scene.run({&a, &b});
  CHECK(a.asked == std::vector<std::string>{"r01-s01", "r01-s03"});
  CHECK(b.asked == std::vector<std::string>{"r01-s02", "r01-s04"});
}
