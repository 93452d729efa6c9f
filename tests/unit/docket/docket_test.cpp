// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "docket/fakes.hpp"

#include <chrono>
#include <set>

using namespace cudal1;
using docket::Fault;
using docket::Mode;
using fakes::request;

namespace {

docket::Limits one_place() {
  docket::Limits limits;
  limits.threads = 1;
  return limits;
}

}  // namespace

TEST_CASE("equal answers to a task are judged once, whatever their comments and ids") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  docket.submit(request("a", "task one", "score 2"), answers.take());
  docket.finish();
  auto same = request("b", "task one", "score 2");
  same.answer = "// another comment\n" + same.answer;
  docket.submit(same, answers.take());
  docket.submit(request("c", "task two", "score 2"), answers.take());
  docket.finish();
  CHECK(world.screened.size() == 2);
  CHECK_FALSE(answers["a"].cached);
  CHECK(answers["b"].cached);
  CHECK(answers["b"].same_as == "\"a\"");
  CHECK(answers["b"].verdict() == "PREDICTED_FASTER");
  CHECK(answers["b"].work_seconds == 0);
  CHECK_FALSE(answers["c"].cached);
}

TEST_CASE("who asks while an equal answer is under way gets its verdict") {
  fakes::World world;
  fakes::Door door;
  world.on_screen = [&] { door.pass(); };
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), one_place());
  docket.submit(request("a", "task", "score 2"), answers.take());
  door.wait_for(1);
  docket.submit(request("b", "task", "score 2"), answers.take());
  docket.submit(request("c", "task", "score 2", Mode::verify), answers.take());
  docket.submit(request("d", "task", "score 2", Mode::compile), answers.take());
  door.open();
  docket.finish();
  CHECK(world.screened.size() == 1);
  CHECK(world.verified.empty());
  CHECK(answers["b"].same_as == "\"a\"");
  CHECK(answers["c"].right());
  CHECK(answers["d"].verdict() == "COMPILED");
}

TEST_CASE("a worker that dies once is no verdict; one that dies twice is a fault, and nothing is remembered") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  docket.submit(request("once", "task", "score 2 dies 1"), answers.take());
  docket.submit(request("twice", "task", "score 3 dies 2"), answers.take());
  docket.finish();
  CHECK(answers["once"].verdict() == "PREDICTED_FASTER");
  CHECK(answers["twice"].fault == Fault::worker);
  CHECK_THAT(answers["twice"].reason, containing("was killed"));
  CHECK(answers["twice"].verdict().empty());
  CHECK_FALSE(answers["twice"].judgement);
  CHECK(docket.counts().retries == 2);
  docket.submit(request("again", "task", "score 3 dies 2"), answers.take());
  docket.finish();
  CHECK(answers["again"].verdict() == "PREDICTED_FASTER");
  CHECK_FALSE(answers["again"].cached);
}

TEST_CASE("a broken task is a fault of its answers alone") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), one_place());
  for (const char* id : {"a", "b", "c"}) docket.submit(request(id, "a broken task", std::string("score 2 ") + id), answers.take());
  docket.submit(request("fine", "a task", "score 2"), answers.take());
  docket.finish();
  for (const char* id : {"a", "b", "c"}) {
    CHECK(answers[id].fault == Fault::task);
    CHECK(answers[id].reason == "the task's own kernel is not right");
  }
  CHECK(answers["fine"].right());
}

TEST_CASE("a deadline runs from the start of work; the work goes on and answers who asks again") {
  fakes::World world;
  fakes::Door door;
  world.on_screen = [&] { door.pass(); };
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), one_place());
  auto hasty = request("a", "task", "score 2"), waiting = request("b", "task", "score 3");
  hasty.deadline_seconds = 0.1;
  waiting.deadline_seconds = 30;
  docket.submit(hasty, answers.take());
  docket.submit(waiting, answers.take());   // waits behind the first for longer than the first one's deadline
  door.wait_for(1);
  while (answers.size() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(answers["a"].fault == Fault::deadline);
  docket.submit(request("again", "task", "score 2"), answers.take());
  door.open();
  docket.finish();
  CHECK(answers["again"].verdict() == "PREDICTED_FASTER");
  CHECK(answers["b"].verdict() == "PREDICTED_FASTER");
  CHECK(answers["b"].queue_seconds >= 0.1);
  CHECK(world.screened.size() == 2);
}

TEST_CASE("what waits when the docket closes is answered with a fault, what is under way with its verdict") {
  fakes::World world;
  fakes::Door door;
  world.on_screen = [&] { door.pass(); };
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), one_place());
  docket.submit(request("first", "task", "score 2"), answers.take());
  door.wait_for(1);
  docket.submit(request("waits", "task", "score 3"), answers.take());
  docket.close();
  docket.submit(request("late", "task", "score 4"), answers.take());
  CHECK(answers["waits"].fault == Fault::closed);
  CHECK(answers["late"].fault == Fault::closed);
  door.open();
  docket.finish();
  CHECK(answers["first"].right());
  CHECK(world.screened.size() == 1);
}

TEST_CASE("a full queue takes nothing more, but equal answers join") {
  fakes::World world;
  fakes::Door door;
  world.on_screen = [&] { door.pass(); };
  fakes::Answers answers;
  docket::Limits limits = one_place();
  limits.queue = 1;
  docket::Docket docket(fakes::opener(world), limits);
  CHECK(docket.submit(request("a", "task", "score 2"), answers.take()));
  door.wait_for(1);
  CHECK(docket.submit(request("b", "task", "score 3"), answers.take()));
  CHECK_FALSE(docket.submit(request("c", "task", "score 4"), answers.take()));
  CHECK(docket.submit(request("d", "task", "score 3"), answers.take()));
  door.open();
  docket.wait_for_room();
  CHECK(docket.submit(request("c", "task", "score 4"), answers.take()));
  docket.finish();
  CHECK(answers.size() == 4);
}

TEST_CASE("places keep to the tasks that they have open") {
  fakes::World world;
  world.on_screen = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  fakes::Answers answers;
  docket::Limits limits;
  limits.places = 2;
  limits.sessions = 2;
  docket::Docket docket(fakes::opener(world), limits);
  // Eight tasks in turns, as a trainer's batch has them.
  for (int sample = 0; sample < 8; ++sample)
    for (int task = 0; task < 8; ++task)
      docket.submit(request(std::to_string(8 * task + sample), "task " + std::to_string(task), "score " + std::to_string(1 + sample)), answers.take());
  docket.finish();
  CHECK(answers.size() == 64);
  CHECK(world.screened.size() == 64);
  // Once each, and now and then for the other place to help; by turns it would be 64.
  CHECK(world.opened.size() <= 24);
  CHECK(std::set<std::string>(world.opened.begin(), world.opened.end()).size() == 8);
  CHECK(docket.counts().sessions <= 4);
}

TEST_CASE("each mode does no more than it is asked for, and never again what a later one did") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& says, Mode mode) {
    docket.submit(request(id, "task", says, mode), answers.take());
    docket.finish();
    return answers[id];
  };
  CHECK(ask("1", "score 2", Mode::compile).verdict() == "COMPILED");
  CHECK(ask("2", "score 2", Mode::verify).verdict() == "DROP");
  CHECK(world.screened.empty());
  CHECK(ask("3", "score 2", Mode::final_).judgement->level == outcome::Level::final_);
  CHECK(world.screened.size() == 1);
  CHECK(ask("4", "score 2", Mode::screen).cached);
  CHECK(ask("5", "score 2", Mode::compile).verdict() == "COMPILED");
  CHECK(ask("6", "verdict WRONG_RESULT", Mode::verify).verdict() == "WRONG_RESULT");
  CHECK(ask("7", "verdict WRONG_RESULT", Mode::final_).cached);
  CHECK(ask("8", "verdict COMPILE_FAILED", Mode::screen).executable() == false);
  CHECK(ask("9", "verdict COMPILE_FAILED", Mode::compile).verdict() == "COMPILE_FAILED");
  CHECK(ask("10", "score 3 final SANITIZER_FAILED", Mode::screen).right());
  CHECK(ask("11", "score 3 final SANITIZER_FAILED", Mode::final_).cheat());
  CHECK(ask("12", "score 3 final SANITIZER_FAILED", Mode::screen).cheat());
  CHECK(world.compiled.size() == 1);
}

TEST_CASE("an answer without a kernel is unreadable, and what the simulator lacks is nobody's fault") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  auto prose = request("prose", "task", "");
  prose.answer = "I would rather not.";
  docket.submit(prose, answers.take());
  docket.submit(request("lacks", "task", "verdict UNSUPPORTED"), answers.take());
  docket.submit(request("forged", "task", "verdict TAMPERED"), answers.take());
  docket.finish();
  CHECK(answers["prose"].verdict() == "UNREADABLE");
  CHECK_FALSE(answers["prose"].executable());
  CHECK(answers["lacks"].fault == Fault::unsupported);
  CHECK(answers["forged"].cheat());
  CHECK(answers["forged"].executable());
  CHECK(docket.counts().cheats == 1);
  CHECK(docket.counts().unreadable == 1);
}

TEST_CASE("a task is named by its file, its text, or the digest of a text that was given") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  docket.submit(request("text", "some task", "score 2"), answers.take());
  docket.finish();
  auto by_digest = request("digest", "", "score 2");
  by_digest.task = {"", "", answers["text"].task_sha256, {}};
  auto other_size = by_digest, unknown = by_digest, missing = by_digest;
  other_size.id = "\"size\"";
  other_size.task.set = {{"N", 64}};
  unknown.id = "\"unknown\"";
  unknown.task.sha256 = "0123";
  missing.id = "\"missing\"";
  missing.task = {"no/such/task.cu", "", "", {}};
  for (const auto& each : {by_digest, other_size, unknown, missing}) docket.submit(each, answers.take());
  docket.finish();
  CHECK(answers["digest"].cached);
  CHECK_FALSE(answers["size"].cached);
  CHECK(answers["unknown"].fault == Fault::task);
  CHECK_THAT(answers["missing"].reason, containing("no/such/task.cu"));
}

TEST_CASE("a hundred threads' worth of requests are each answered once") {
  fakes::World world;
  fakes::Answers answers;
  docket::Limits limits;
  limits.places = 3;
  docket::Docket docket(fakes::opener(world), limits);
  std::vector<std::jthread> clients;
  for (int client = 0; client < 8; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 50; ++i)
        docket.submit(request(std::to_string(client) + "-" + std::to_string(i), "task " + std::to_string(i % 7), "score " + std::to_string(1 + i % 10)), answers.take());
    });
  clients.clear();
  docket.finish();
  CHECK(answers.size() == 400);
  CHECK(world.screened.size() == 50);   // 7 tasks, 10 answers, of which i decides 50 pairs
  CHECK(docket.counts().cached == 350);
}

TEST_CASE("rewards measure an answer against the task's others, whichever came first") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& task, const std::string& says, reward::Shape shape) {
    auto asked = request(id, task, says);
    asked.reward = shape;
    docket.submit(asked, answers.take());
    docket.finish();
    return answers[id].reward;
  };
  CHECK(ask("1", "task", "score 2", reward::Shape::kevin) == Approx(2.3));
  CHECK(ask("2", "task", "score 2.5", reward::Shape::milestones) == 3);
  CHECK(ask("3", "task", "score 2.2", reward::Shape::milestones) == 2);
  CHECK(ask("4", "task", "score 2.5", reward::Shape::milestones) == 3);   // again: not against itself
  CHECK(ask("5", "another task", "score 2.2", reward::Shape::milestones) == 3);
  CHECK(ask("6", "task", "verdict WRONG_RESULT", reward::Shape::log) == 0);
  CHECK(ask("7", "task", "verdict TAMPERED", reward::Shape::log) == -0.3);
  CHECK(ask("8", "task", "verdict UNSUPPORTED", reward::Shape::log) == std::nullopt);
  CHECK(ask("9", "task", "score 1 dies 2", reward::Shape::log) == std::nullopt);
  CHECK(answers["9"].fault == Fault::worker);
  CHECK(world.confirmed.empty());
}

TEST_CASE("answers of one group are measured against what was known when it began") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& says, const std::string& group) {
    auto asked = request(id, "task", says);
    asked.reward = reward::Shape::paper;
    asked.group = group;
    docket.submit(asked, answers.take());
    docket.finish();
    return answers[id].reward.value();
  };
  ask("1", "score 1.5", "");
  ask("2", "score 2.5", "");
  CHECK(ask("3", "score 2.25 // a", "step 1") == Approx(0.5));
  CHECK(ask("4", "score 2.75", "step 1") == Approx(1.5));
  CHECK(ask("5", "score 2.25; int b;", "step 1") == Approx(0.5));   // as the first one, though two more are known
  CHECK(ask("6", "score 2.25; int c;", "step 2") < 0.2);
  CHECK(ask("7", "score 2.25; int d;", "") < 0.2);
  CHECK(ask("8", "score 1.5", "step 1") == Approx(0.5));            // again: not against itself, and one other is no measure
}

TEST_CASE("a time while something else used the GPU is no reward") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  docket.submit(request("once", "task", "score 2 beside 1"), answers.take());
  docket.submit(request("always", "task", "score 2 beside 9"), answers.take());
  docket.submit(request("wrong", "task", "verdict WRONG_RESULT beside 9"), answers.take());
  docket.finish();
  CHECK(answers["once"].verdict() == "PREDICTED_FASTER");
  CHECK(answers["always"].fault == Fault::busy);
  CHECK(answers["always"].verdict().empty());
  CHECK(answers["wrong"].verdict() == "WRONG_RESULT");
  CHECK(docket.counts().retries == 2);
}

TEST_CASE("a leap is confirmed before it is rewarded, and one that is not confirmed is none") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& says) {
    auto asked = request(id, "task", says);
    asked.reward = reward::Shape::kevin;
    docket.submit(asked, answers.take());
    docket.finish();
    return answers[id];
  };
  CHECK(ask("leap", "score 40").reward == Approx(40.3));
  CHECK(answers["leap"].judgement->level == outcome::Level::final_);
  CHECK(world.confirmed.size() == 1);
  CHECK(ask("usual", "score 30").judgement->level == outcome::Level::screening);
  CHECK(ask("false leap", "score 90 final WRONG_RESULT").reward == 0);
  CHECK(world.confirmed.size() == 2);
  CHECK(ask("half", "score 75").reward == Approx(75.3));
  // Asked without a reward first, it was screened alone and counts for no more than the limit.
  docket.submit(request("plain", "other", "score 40"), answers.take());
  docket.finish();
  CHECK(answers["plain"].judgement->level == outcome::Level::screening);
  auto later = request("later", "other", "score 40");
  later.reward = reward::Shape::kevin;
  docket.submit(later, answers.take());
  docket.finish();
  CHECK(answers["later"].reward == Approx(3.3));
}

TEST_CASE("a copy of what the prompt showed is a duplicate") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  docket.submit(request("own", "task", "score 2"), answers.take());
  docket.finish();
  auto copy = request("copy", "task", "score 2");
  copy.reward = reward::Shape::kevin;
  copy.shown = {answers["own"].fingerprint};
  docket.submit(copy, answers.take());
  docket.finish();
  CHECK_FALSE(answers["own"].duplicate);
  CHECK(answers["copy"].duplicate);
  CHECK(answers["copy"].reward == Approx(1.3));
}

TEST_CASE("right answers with the same machine code are one answer to the task, whatever their text") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  for (const char* text : {"first score 2 code 5ac3", "second score 2 code 5ac3", "third score 3 code 77", "wrong verdict WRONG_RESULT code 5ac3"}) {
    auto each = request(std::string(text).substr(0, std::string(text).find(' ')), "task", text);
    each.reward = reward::Shape::kevin;
    if (answers.size() > 0) each.shown = {answers["first"].fingerprint};
    docket.submit(each, answers.take());
    docket.finish();
  }
  CHECK(answers["second"].same_as == answers["first"].id);
  CHECK_FALSE(answers["second"].cached);
  CHECK(answers["second"].fingerprint != answers["first"].fingerprint);
  CHECK(answers["second"].duplicate);
  CHECK(answers["third"].same_as.empty());
  CHECK_FALSE(answers["third"].duplicate);
  CHECK(answers["wrong"].same_as.empty());
  CHECK_FALSE(answers["wrong"].duplicate);
  CHECK(docket.exemplars(answers["first"].task_key).size() == 2);
}

TEST_CASE("a final verdict on other words for an answer's machine code counts for that answer") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& says, Mode mode, std::optional<reward::Shape> reward = {}) {
    auto asked = request(id, "task", says, mode);
    asked.reward = reward;
    docket.submit(asked, answers.take());
    docket.finish();
    return answers[id];
  };
  ask("first", "first score 2 code 5ac3", Mode::screen);
  CHECK(ask("second", "second score 2.5 code 5ac3", Mode::final_).same_as == answers["first"].id);
  auto known = docket.exemplars(answers["first"].task_key);
  REQUIRE(known.size() == 1);
  CHECK(known[0].id == answers["first"].fingerprint);
  CHECK_THAT(known[0].source, containing("first score 2"));
  CHECK(known[0].judgement.level == outcome::Level::final_);
  CHECK(known[0].judgement.score() == 2.5);
  ask("third", "third score 2.2 code 5ac3", Mode::final_);   // the first final verdict stays
  ask("fourth", "fourth score 2.7 code 5ac3", Mode::screen);
  known = docket.exemplars(answers["first"].task_key);
  REQUIRE(known.size() == 1);
  CHECK(known[0].judgement.score() == 2.5);
  // More than twice what was screened first, less than twice what was confirmed: no leap.
  CHECK(ask("other", "score 4.9 code 77", Mode::screen, reward::Shape::kevin).judgement->level == outcome::Level::screening);
}

TEST_CASE("an answer with the machine code of what the prompt showed is a duplicate, whichever of its texts was shown") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto ask = [&](const std::string& id, const std::string& says, const std::vector<std::string>& shown) {
    auto asked = request(id, "task", says);
    asked.reward = reward::Shape::kevin;
    asked.shown = shown;
    docket.submit(asked, answers.take());
    docket.finish();
    return answers[id];
  };
  ask("first", "first score 2 code 5ac3", {});
  const std::string second = ask("second", "second score 2 code 5ac3", {}).fingerprint;
  CHECK_FALSE(answers["second"].duplicate);
  CHECK(ask("third", "third score 2 code 5ac3", {second}).duplicate);
  CHECK(ask("first again", "first score 2 code 5ac3", {second}).duplicate);
  CHECK(ask("second again", "second score 2 code 5ac3", {answers["third"].fingerprint}).duplicate);
  CHECK_FALSE(ask("other", "other score 2 code 77", {second}).duplicate);
  CHECK_FALSE(ask("wrong", "wrong verdict WRONG_RESULT code 5ac3", {second}).duplicate);
}

TEST_CASE("standings are those of the other answers") {
  docket::Scores scores;
  CHECK(scores.standing("task", "a").count == 0);
  scores.note("task", "a", 1, false);
  scores.note("task", "b", 3, false);
  scores.note("task", "leap", 9, false);
  const auto all = scores.standing("task", "");
  CHECK(all.count == 2);
  CHECK(all.mean == Approx(2));
  CHECK(all.deviation == Approx(1));
  CHECK(all.best == 3);
  CHECK(scores.standing("task", "b").best == 1);
  scores.note("task", "leap", 9, true);
  scores.note("task", "a", 2, true);
  CHECK(scores.standing("task", "leap").mean == Approx(2.5));
  CHECK(scores.standing("task", "").count == 3);
  CHECK(scores.standing("other", "").count == 0);
}

TEST_CASE("a task is warmed once, and its right answers are the exemplars") {
  fakes::World world;
  fakes::Answers answers;
  docket::Docket docket(fakes::opener(world), {});
  const auto task = docket.text_of({"", "task", "", {}}).value();
  CHECK(docket.warm(task.key) == nullptr);
  for (const char* id : {"w1", "w2"}) {
    docket.submit(request(id, "task", "", Mode::warm), answers.take());
    docket.finish();
  }
  CHECK(docket.warm(task.key) != nullptr);
  CHECK(world.warmed == 1);
  CHECK(docket.counts().answered == 0);
  for (const char* says : {"score 2", "score 3", "verdict WRONG_RESULT"}) docket.submit(request(says, "task", says), answers.take());
  docket.submit(request("verified", "task", "score 4", Mode::verify), answers.take());
  docket.finish();
  const auto exemplars = docket.exemplars(task.key);
  CHECK(exemplars.size() == 2);
  CHECK(docket.tasks().size() == 1);
}

TEST_CASE("stored answers are known to the next execution, whatever a kill cut short, and to no other device") {
  base::TemporaryFolder folder;
  fakes::World world;
  fakes::Answers answers;
  {
    docket::Docket docket(fakes::opener(world), {}, {folder.path() / "store", "a GPU"});
    docket.submit(request("a", "task", "score 2"), answers.take());
    docket.submit(request("b", "task", "score 3"), answers.take());
    docket.submit(request("wrong", "task", "verdict WRONG_RESULT"), answers.take());
    docket.finish();
  }
  const auto file = std::filesystem::directory_iterator(folder.path() / "store")->path();
  base::AppendFile(file).append("{\"schema\":1,\"finger");
  for (int execution = 0; execution < 2; ++execution) {
    docket::Docket docket(fakes::opener(world), {}, {folder.path() / "store", "a GPU"});
    auto again = request("again", "task", "score 2");
    again.reward = reward::Shape::milestones;
    docket.submit(again, answers.take());
    docket.submit(request("new", "task", execution == 0 ? "score 4" : "score 4.0"), answers.take());
    docket.finish();
    CHECK(answers["again"].cached);
    CHECK(answers["again"].reward == 2);   // not faster than the stored 3
    CHECK(docket.exemplars(docket.text_of({"", "task", "", {}})->key).size() == 3u + static_cast<unsigned>(execution));
  }
  docket::Docket other(fakes::opener(world), {}, {folder.path() / "store", "another GPU"});
  other.submit(request("other", "task", "score 2"), answers.take());
  other.finish();
  CHECK_FALSE(answers["other"].cached);
}
