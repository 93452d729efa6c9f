// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/fakes.hpp"

#include "curriculum/structure.hpp"
#include "dataset/example.hpp"
#include "dataset/rows.hpp"
#include "model/answer.hpp"

#include <utility>

#include <nlohmann/json.hpp>

using namespace cudal1;
using dataset::Engine;
using dataset::Purpose;
using nlohmann::json;

namespace {

search::Variant variant(const std::string& id, const std::string& source, outcome::Judgement judgement, std::vector<std::string> techniques = {"tiling"}) {
  search::Variant result;
  result.id = id;
  result.model = "scripted";
  result.source = source;
  result.analysis = "It waits.";
  result.design = "Larger blocks.";
  result.techniques = std::move(techniques);
  result.judgement = std::move(judgement);
  return result;
}

store::Run run() {
  fakes::Referee referee;
  store::Run run;
  const auto task = fakes::small_task();
  run.identity.task_name = task.name();
  run.identity.task_path = "twice.cu";
  run.identity.task_source = task.file.source;
  run.identity.device = "sim:H200";
  run.result.start = {referee.device(), referee.reference()};
  outcome::Judgement wrong;
  wrong.verdict = outcome::Verdict::wrong_result;
  for (const double score : {4.0, 2.0, 3.0}) run.result.variants.push_back(variant("s" + std::to_string(static_cast<int>(score)), fakes::variant_source(score), fakes::judgement_of(score)));
  run.result.variants.push_back(variant("copy", "// again\n" + fakes::variant_source(4.0), fakes::judgement_of(4)));
  for (search::Variant& each : run.result.variants) each.judgement.code = "code of " + each.source.substr(each.source.find("//@"));
  run.result.variants.push_back(variant("renamed", fakes::variant_source(5.0), fakes::judgement_of(4)));
  run.result.variants.back().judgement.code = run.result.variants.front().judgement.code;
  run.result.variants.push_back(variant("wrong", fakes::variant_source(9.0), wrong));
  search::Variant malformed;
  malformed.id = "malformed";
  malformed.status = search::Variant::Status::malformed;
  run.result.variants.push_back(malformed);
  return run;
}

std::vector<json> rows(Purpose purpose, Engine engine = Engine::trl, dataset::Style style = dataset::Style::full, std::size_t most = 4) {
  dataset::Options options;
  options.purpose = purpose;
  options.engine = engine;
  options.style = style;
  options.split = "all";
  options.most = most;
  std::vector<json> list;
  const std::vector<store::Run> runs = {run()};
  for (const std::string& line : dataset::rows(runs, {}, options).lines) list.push_back(json::parse(line));
  return list;
}

std::string text(const json& messages) { return messages.back()["content"]; }

}  // namespace

TEST_CASE("a task on which no speed-up can be earned gives no rows") {
  dataset::Options options;
  options.split = "all";
  std::vector<store::Run> runs = {run(), run()};
  runs[0].result.start.reference.findings.push_back({outcome::TaskVerdict::input_range, "a remark"});
  runs[1].result.start.reference.findings.push_back({outcome::TaskVerdict::degenerate, "100 % of C is 0"});
  const auto made = dataset::rows(runs, {}, options);
  CHECK(made.tasks == 1);
  CHECK(made.no_measure == 1);
  CHECK(made.lines.size() == 3);
}

TEST_CASE("sft: every distinct right answer, in the form that replies are read in") {
  const auto list = rows(Purpose::sft);
  REQUIRE(list.size() == 3);
  for (const json& row : list) {
    const auto answer = model::parse_answer(text(row["completion"]));
    REQUIRE(answer);
    CHECK_THAT(answer->source, containing("__global__"));
    CHECK(row["prompt"][0]["role"] == "system");
    CHECK(row["split"] == (curriculum::is_test(row["structure"]) ? "test" : "train"));
    CHECK(row["exemplars"].empty());
  }
  CHECK(list[0]["speedup"] == 2);
  CHECK(list[2]["low"] == Approx(3.92));
  CHECK(rows(Purpose::sft, Engine::trl, dataset::Style::full, 2).size() == 2);
}

TEST_CASE("contrast: two slower answers with their scores stand in the prompt, and no answer in its own") {
  const auto list = rows(Purpose::contrast);
  REQUIRE(list.size() == 1);   // only the fastest beats two
  CHECK(list[0]["exemplars"] == json{"s2", "s3"});
  const std::string prompt = text(list[0]["prompt"]), source = fakes::variant_source(4.0);
  CHECK_THAT(prompt, containing("Contrast these variants"));
  CHECK_THAT(prompt, containing("score 2.0000"));
  CHECK_THAT(prompt, containing("score 3.0000"));
  CHECK(prompt.find("score 4.0000") == std::string::npos);
  CHECK_THAT(text(list[0]["completion"]), containing("score 4.0000"));
}

TEST_CASE("compact: the task's directives, exemplars behind their scores, the kernel file alone") {
  const json row = rows(Purpose::contrast, Engine::trl, dataset::Style::compact)[0];
  CHECK(row["prompt"].size() == 1);
  const std::string prompt = text(row["prompt"]);
  CHECK(prompt.starts_with("//@ task    twice\n"));
  CHECK_THAT(prompt, containing("\n// 2x\n"));
  CHECK_THAT(prompt, containing("\n// 3x\n"));
  CHECK(prompt.find("__global__ void twice") == std::string::npos);
  CHECK(text(row["completion"]) == fakes::variant_source(4.0));
}

TEST_CASE("preference: the rejected answer is wrong, or slower by more than a tenth") {
  const auto list = rows(Purpose::preference);
  REQUIRE(list.size() == 3);
  for (const json& row : list) {
    CHECK(text(row["chosen"]) != text(row["rejected"]));
    const bool wrong = row["rejected_verdict"] == "WRONG_RESULT";
    CHECK((wrong || row["rejected_speedup"].get<double>() * 1.1 < row["speedup"].get<double>()));
  }
}

TEST_CASE("the machine code of a wrong answer hides no right one, and the other way round") {
  for (const bool wrong_first : {true, false}) {
    store::Run both = run();
    outcome::Judgement wrong;
    wrong.verdict = outcome::Verdict::wrong_result;
    both.result.variants = {variant("right", fakes::variant_source(2.0), fakes::judgement_of(2)), variant("wrong", fakes::variant_source(9.0), wrong)};
    for (search::Variant& each : both.result.variants) each.judgement.code = "5ac3";
    if (wrong_first) std::swap(both.result.variants[0], both.result.variants[1]);
    const dataset::Source source(both);
    REQUIRE(source.right.size() == 1);
    REQUIRE(source.wrong.size() == 1);
    CHECK(source.right[0]->id == "right");
    CHECK(source.wrong[0]->id == "wrong");
  }
}

TEST_CASE("grpo: a prompt for each task, with what each engine hands to its reward") {
  const auto trl = rows(Purpose::grpo), verl = rows(Purpose::grpo, Engine::verl), openrlhf = rows(Purpose::grpo, Engine::openrlhf);
  REQUIRE(trl.size() == 1);
  const std::string source = fakes::small_task().file.source;
  CHECK(json::parse(trl[0]["cudal1_task"].get<std::string>())["source"] == source);
  CHECK(json::parse(verl[0]["reward_model"]["ground_truth"].get<std::string>())["source"] == source);
  CHECK(verl[0]["data_source"] == "cudal1");
  CHECK(json::parse(openrlhf[0]["label"].get<std::string>())["source"] == source);
}

TEST_CASE("rows of a structure for testing are in no training file") {
  const std::vector<store::Run> runs = {run()};
  dataset::Options options;
  const bool test = curriculum::is_test(curriculum::structure(fakes::small_task()));
  options.split = test ? "train" : "test";
  const auto none = dataset::rows(runs, {}, options);
  CHECK(none.lines.empty());
  CHECK(none.other_split == 1);
  options.split = test ? "test" : "train";
  CHECK(dataset::rows(runs, {}, options).lines.size() == 3);
}

TEST_CASE("harbor: a folder whose test asks the judge and never makes up a reward") {
  const auto files = dataset::harbor_task(run(), {});
  CHECK_THAT(files.at("instruction.md"), containing("/app/answer.cu"));
  CHECK(files.at("tests/task.cu") == fakes::small_task().file.source);
  CHECK_THAT(files.at("tests/test.sh"), containing("/logs/verifier/reward.json") && containing("/v1/judge"));
  CHECK_THAT(files.at("task.toml"), containing("[verifier]"));
}
