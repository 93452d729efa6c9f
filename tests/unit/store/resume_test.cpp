// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "catch.hpp"
#include "model/providers.hpp"
#include "search/fakes.hpp"
#include "store/journal.hpp"
#include "store/run.hpp"
#include "store/run_folder.hpp"

#include <algorithm>
#include <filesystem>

using namespace cudal1;
namespace fs = std::filesystem;

namespace {

// With this seed the climbing model's run has everything: see the first test.
search::Options small_options() {
  search::Options options;
  options.rounds = 2;
  options.samples = 2;
  options.seed = 265;
  return options;
}

store::Identity identity_of(const task::Task& task, const search::Options& options) {
  return store::identity(task, options, {"scripted"}, "sim:H200", "", "0.1.0", std::string(64, 'a'));
}

struct Played {
  search::Result result;
  std::vector<std::string> asked, screened;
  std::size_t races = 0;
};

Played play(const fs::path& folder, fakes::Model::Answer answer = fakes::climb, search::Options options = small_options(),
            std::stop_token stop = {}, int parallel = 1, bool measured = false) {
  const auto task = fakes::small_task();
  store::RunFolder run(folder, task, identity_of(task, options));
  fakes::Referee referee;
  if (measured) referee.measure();
  fakes::Model model(std::move(answer), parallel);
  Played played;
  played.result = search::run(task, referee, {&model}, prompt::Templates(), options, run, run, std::move(stop));
  played.asked = model.asked;
  played.screened = referee.screened;
  played.races = referee.raced.size();
  return played;
}

std::vector<std::string> journal_of(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& line : store::read_journal(folder / "journal.jsonl").lines) lines.push_back(store::without_times(line));
  return lines;
}

std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "journal.jsonl" && entry.path().filename() != "run.json")
      files.push_back(fs::relative(entry.path(), folder).string() + "\n" + base::read_file(entry.path()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("the run that these tests cut has answers of every kind") {
  const base::TemporaryFolder folder;
  const auto& variants = play(folder.path()).result.variants;
  const auto count = [&](auto&& wanted) { return std::count_if(variants.begin(), variants.end(), wanted); };
  using Status = search::Variant::Status;
  CHECK(count([](const auto& variant) { return variant.status == Status::malformed; }) > 0);
  CHECK(count([](const auto& variant) { return variant.status == Status::duplicate; }) > 0);
  CHECK(count([](const auto& variant) { return variant.status == Status::judged && !variant.right(); }) > 0);
  CHECK(count([](const auto& variant) { return variant.confirmation.has_value(); }) > 0);
}

TEST_CASE("two runs with the same seed leave the same journal but for times") {
  const base::TemporaryFolder folder;
  play(folder.path() / "a");
  play(folder.path() / "b");
  CHECK(journal_of(folder.path() / "a") == journal_of(folder.path() / "b"));
  CHECK(files_of(folder.path() / "a") == files_of(folder.path() / "b"));
}

TEST_CASE("a run with races cut off anywhere in its journal resumes to the same end, and no race is run again") {
  // Screened, the first sample is always the better one; raced, the second.
  const auto near = [](const model::Question& question, std::stop_token) {
    const double score = 2 + 0.01 * question.key.round - 0.005 * question.key.sample;
    return fakes::said(fakes::reply_text(fakes::variant_source(score, fmt::format("true {:.4f}", score + 0.02 * question.key.sample))));
  };
  const auto once = [&](const fs::path& place) { return play(place, near, small_options(), {}, 1, true); };
  const base::TemporaryFolder folder;
  const auto whole = folder.path() / "whole";
  const auto expected = once(whole);
  const auto expected_journal = journal_of(whole);
  const auto expected_files = files_of(whole);
  REQUIRE(expected.result.races.size() == 2);
  CHECK(expected.result.best()->key.sample == 2);
  CHECK_THAT(base::read_file(whole / "best.cu"), containing(fmt::format("score {:.4f}", 2.01)));

  const auto read = store::load(whole);
  REQUIRE(read.result.races.size() == 2);
  for (std::size_t i = 0; i < read.result.variants.size(); ++i) {
    CHECK(read.result.variants[i].judgement.score() == Approx(expected.result.variants[i].judgement.score()));
    CHECK(read.result.variants[i].judgement.message == expected.result.variants[i].judgement.message);
  }

  const std::string text = base::read_file(whole / "journal.jsonl");
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
    const auto place = folder.path() / "cut";
    fs::remove_all(place);
    fs::create_directory(place);
    base::write_file(place / "journal.jsonl", std::string_view(text).substr(0, end + 1));
    const auto resumed = once(place);
    INFO("cut after " << end + 1 << " bytes");
    REQUIRE(journal_of(place) == expected_journal);
    REQUIRE(files_of(place) == expected_files);
    std::size_t known = 0;
    for (const auto& line : base::split_lines(std::string_view(text).substr(0, end))) known += line.find("\"event\":\"race\"") != std::string::npos;
    REQUIRE(resumed.races == expected.races - known);
  }
}

TEST_CASE("a run cut off anywhere in its journal resumes to the same end") {
  const base::TemporaryFolder folder;
  const auto whole = folder.path() / "whole";
  const auto expected = play(whole);
  const auto expected_journal = journal_of(whole);
  const auto expected_files = files_of(whole);
  const std::string text = base::read_file(whole / "journal.jsonl");

  std::vector<std::size_t> cuts = {0};
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', end + 1)) {
    const auto begin = cuts.back();
    cuts.push_back(begin + (end - begin) / 2);  // in the middle of the line
    cuts.push_back(end + 1);
  }
  for (const auto cut : cuts) {
    const auto place = folder.path() / "cut";
    fs::remove_all(place);
    fs::create_directory(place);
    base::write_file(place / "journal.jsonl", std::string_view(text).substr(0, cut));
    const auto resumed = play(place);
    INFO("cut after " << cut << " bytes");
    REQUIRE(resumed.result.best_index == expected.result.best_index);
    REQUIRE(journal_of(place) == expected_journal);
    REQUIRE(files_of(place) == expected_files);
    // What the journal held is neither asked nor judged again.
    std::size_t replies = 0, judged = 0;
    for (const auto& line : base::split_lines(std::string_view(text).substr(0, text.rfind('\n', cut - (cut == 0 ? 0 : 1)) + 1))) {
      if (cut == 0) break;
      if (line.find("\"event\":\"reply\"") != std::string::npos) ++replies;
      if (line.find("\"status\":\"judged\"") != std::string::npos) ++judged;
    }
    REQUIRE(resumed.asked.size() == expected.asked.size() - replies);
    REQUIRE(resumed.screened.size() == expected.screened.size() - judged);
  }
}

TEST_CASE("a finished run asked for more rounds goes on, and equals one that had them from the start") {
  const base::TemporaryFolder folder;
  auto options = small_options();
  options.rounds = 1;
  play(folder.path() / "grown", fakes::climb, options);
  const auto grown = play(folder.path() / "grown");
  const auto whole = play(folder.path() / "whole");
  REQUIRE(grown.result.variants.size() == whole.result.variants.size());
  for (std::size_t index = 0; index < whole.result.variants.size(); ++index)
    CHECK(grown.result.variants[index].source == whole.result.variants[index].source);
  CHECK(grown.result.best_index == whole.result.best_index);
  CHECK(grown.asked.size() < whole.asked.size());
}

TEST_CASE("a finished run played again asks, judges and writes nothing") {
  const base::TemporaryFolder folder;
  play(folder.path());
  const auto before = base::read_file(folder.path() / "journal.jsonl");
  const auto again = play(folder.path());
  CHECK(again.asked.empty());
  CHECK(again.screened.empty());
  CHECK(base::read_file(folder.path() / "journal.jsonl") == before);
}

TEST_CASE("a run that waits for replies goes on when they are there") {
  const base::TemporaryFolder folder;
  bool there = false;
  const auto model = [&](const model::Question& question, std::stop_token) {
    if (!there && question.key.sample == 2) return fakes::status(model::Reply::Status::pending, "waiting");
    return fakes::climb(question);
  };
  const auto waiting = play(folder.path() / "a", model);
  CHECK(waiting.result.stopped_because == search::Stop::pending);
  there = true;
  const auto gone_on = play(folder.path() / "a", model);
  const auto whole = play(folder.path() / "b");
  CHECK(gone_on.result.best_index == whole.result.best_index);
  CHECK(gone_on.result.variants.size() == whole.result.variants.size());
}

TEST_CASE("a run interrupted and resumed ends like one that was not") {
  const base::TemporaryFolder folder;
  std::stop_source stop;
  int answers = 0;
  play(folder.path() / "a",
       [&](const model::Question& question, std::stop_token) {
         if (++answers == 5) stop.request_stop();
         return fakes::climb(question);
       },
       small_options(), stop.get_token());
  const auto resumed = play(folder.path() / "a");
  const auto whole = play(folder.path() / "b");
  CHECK(resumed.result.best_index == whole.result.best_index);
  CHECK(resumed.asked.size() + 5 == whole.asked.size());
}

TEST_CASE("a parallel run cut off anywhere ends with the same variants") {
  const base::TemporaryFolder folder;
  const auto whole = folder.path() / "whole";
  const auto expected = play(whole, fakes::climb, small_options(), {}, 3);
  const auto text = base::read_file(whole / "journal.jsonl");
  for (std::size_t cut = 1; cut < text.size(); cut += text.size() / 9) {
    const auto place = folder.path() / "cut";
    fs::remove_all(place);
    fs::create_directory(place);
    base::write_file(place / "journal.jsonl", std::string_view(text).substr(0, cut));
    const auto resumed = play(place, fakes::climb, small_options(), {}, 3);
    REQUIRE(resumed.result.variants.size() == expected.result.variants.size());
    for (std::size_t index = 0; index < expected.result.variants.size(); ++index)
      REQUIRE(resumed.result.variants[index].source == expected.result.variants[index].source);
  }
}

TEST_CASE("a run read back from its folder is the run that was played") {
  const base::TemporaryFolder folder;
  const auto played = play(folder.path());
  const auto run = store::load(folder.path());
  CHECK(run.complete);
  CHECK(run.identity.task_name == "twice");
  REQUIRE(run.result.best() != nullptr);
  CHECK(run.result.best()->id == played.result.best()->id);
  CHECK(run.result.best()->confirmation.has_value());
  CHECK(run.result.variants.size() == played.result.variants.size());
  CHECK(run.result.rounds.size() == 2);
  CHECK(run.result.usage.input_tokens == played.result.usage.input_tokens);
  CHECK(run.result.usage.cost == Approx(played.result.usage.cost));
  CHECK(fs::exists(run.best_file));
  CHECK_THAT(base::read_file(run.best_file), containing("__CUDACC_RTC__"));
}

TEST_CASE("a recorded run can be replayed without its model") {
  const base::TemporaryFolder folder;
  const auto played = play(folder.path() / "recorded");
  const auto task = fakes::small_task();
  const auto replay = model::open("replay:" + (folder.path() / "recorded").string(), {}, model::providers());
  const auto options = small_options();
  fakes::Referee referee;
  search::Observer nobody;
  const auto result = search::run(task, referee, {replay.get()}, prompt::Templates(), options, nobody, search::Recall(), {});
  REQUIRE(result.variants.size() == played.result.variants.size());
  CHECK(result.best_index == played.result.best_index);
}
