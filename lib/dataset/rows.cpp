// SPDX-License-Identifier: Apache-2.0
#include "dataset/rows.hpp"

#include "base/digest.hpp"
#include "base/random.hpp"
#include "curriculum/structure.hpp"
#include "dataset/example.hpp"
#include "search/fingerprint.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::dataset {

namespace {

using json = nlohmann::ordered_json;
using search::Variant;

constexpr double worth_preferring = 1.1;   // of two right answers, the faster one's lead

json to_json(const Messages& messages) {
  json list = json::array();
  for (const auto& [role, text] : messages) list.push_back({{"role", role}, {"content", text}});
  return list;
}

json assistant(const std::string& text) { return json::array({{{"role", "assistant"}, {"content", text}}}); }

// What the judge wants to hear of the task.
std::string task_text(const Source& source) { return json{{"source", source.run.identity.task_source}}.dump(); }

// What every row says of where it comes from.
json origin(const Source& source, const std::string& id) {
  return {{"schema", 1},
          {"id", source.task.name() + '/' + id},
          {"task", source.task.name()},
          {"task_sha256", base::sha256(source.run.identity.task_source)},
          {"structure", source.structure},
          {"group", curriculum::group(source.structure)},
          {"split", source.split()},
          {"gpu", source.run.identity.device},
          {"cudal1", source.run.identity.version}};
}

void add_answer(json& row, const Variant& variant) {
  const auto& judgement = variant.verdict();
  const outcome::Speedup speedup = judgement.speedup.value_or(outcome::Speedup{0, 0, 0});
  row["verdict"] = outcome::name(judgement.verdict, judgement.predicted);
  row["speedup"] = speedup.value;
  row["low"] = speedup.low;
  row["high"] = speedup.high;
  row["techniques"] = variant.techniques;
  row["model"] = variant.model;
  row["fingerprint"] = search::fingerprint(variant.source);
}

class Maker {
 public:
  Maker(const Source& source, const prompt::Templates& templates, const Options& options, std::uint64_t stream)
      : source_(source), templates_(templates), options_(options), random_(options.seed, (std::uint64_t{1} << 57) + stream) {}

  std::vector<json> rows() {
    std::vector<json> result;
    if (options_.purpose == Purpose::grpo) result.push_back(question());
    else if (options_.purpose == Purpose::preference) result = preferences();
    else for (const Variant* variant : chosen()) {
        std::vector<const Variant*> shown;
        if (options_.purpose == Purpose::contrast && !slower_pair(*variant, shown)) continue;
        result.push_back(example(*variant, shown));
      }
    return result;
  }

 private:
  // At most so many of one set of techniques, the fastest first.
  std::vector<const Variant*> chosen() const {
    std::map<std::vector<std::string>, std::size_t> taken;
    std::vector<const Variant*> result;
    for (auto variant = source_.right.rbegin(); variant != source_.right.rend(); ++variant) {
      if (options_.longest > 0 && answer_of(**variant, options_.style).size() > options_.longest) continue;
      std::vector<std::string> techniques = (*variant)->techniques;
      std::sort(techniques.begin(), techniques.end());
      if (taken[techniques]++ < options_.most) result.push_back(*variant);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  // Two different answers that are slower, by rising score.
  bool slower_pair(const Variant& variant, std::vector<const Variant*>& shown) {
    std::vector<const Variant*> slower;
    std::copy_if(source_.right.begin(), source_.right.end(), std::back_inserter(slower), [&](const Variant* other) { return other->score() < variant.score(); });
    if (slower.size() < 2) return false;
    const std::size_t first = random_.below(slower.size() - 1), second = first + 1 + random_.below(slower.size() - first - 1);
    shown = {slower[first], slower[second]};
    return true;
  }

  json example(const Variant& variant, const std::vector<const Variant*>& shown) const {
    const json prompt = to_json(prompt_of(source_, shown, templates_, options_.style)), completion = assistant(answer_of(variant, options_.style));
    json row = origin(source_, variant.id);
    if (options_.engine == Engine::verl) {
      row["messages"] = prompt;
      row["messages"].insert(row["messages"].end(), completion.begin(), completion.end());
    } else {
      row["prompt"] = prompt;
      row[options_.engine == Engine::trl ? "completion" : "response"] = completion;
    }
    json exemplars = json::array();
    for (const Variant* each : shown) exemplars.push_back(each->id);
    row["exemplars"] = exemplars;
    add_answer(row, variant);
    return row;
  }

  std::vector<json> preferences() {
    std::vector<json> result;
    for (const Variant* variant : chosen()) {
      std::vector<const Variant*> worse = source_.wrong;
      for (const Variant* other : source_.right)
        if (other->score() * worth_preferring < variant->score()) worse.push_back(other);
      if (worse.empty()) continue;
      const Variant& rejected = *worse[random_.below(worse.size())];
      json row = origin(source_, variant->id + '-' + rejected.id);
      row["prompt"] = to_json(prompt_of(source_, {}, templates_, options_.style));
      row["chosen"] = assistant(answer_of(*variant, options_.style));
      row["rejected"] = assistant(answer_of(rejected, options_.style));
      add_answer(row, *variant);
      row["rejected_verdict"] = outcome::name(rejected.verdict().verdict, rejected.verdict().predicted);
      row["rejected_speedup"] = rejected.score();
      result.push_back(std::move(row));
    }
    return result;
  }

  json question() const {
    const json prompt = to_json(prompt_of(source_, {}, templates_, options_.style));
    json row = origin(source_, "prompt");
    row["prompt"] = prompt;
    switch (options_.engine) {
      case Engine::trl: row["cudal1_task"] = task_text(source_); break;
      case Engine::openrlhf: row["label"] = task_text(source_); break;
      case Engine::verl:
        row["data_source"] = "cudal1";
        row["ability"] = "cuda";
        row["reward_model"] = {{"style", "rule"}, {"ground_truth", task_text(source_)}};
        row["extra_info"] = {{"split", source_.split()}, {"task_sha256", row["task_sha256"]}, {"group", row["group"]}};
        break;
    }
    return row;
  }

  const Source& source_;
  const prompt::Templates& templates_;
  const Options& options_;
  base::Random random_;
};

}  // namespace

std::optional<Purpose> parse_purpose(const std::string& name) {
  for (const auto& [each, text] : {std::pair{Purpose::sft, "sft"}, {Purpose::contrast, "contrast"}, {Purpose::preference, "preference"}, {Purpose::grpo, "grpo"}})
    if (name == text) return each;
  return std::nullopt;
}

std::optional<Engine> parse_engine(const std::string& name) {
  for (const auto& [each, text] : {std::pair{Engine::trl, "trl"}, {Engine::verl, "verl"}, {Engine::openrlhf, "openrlhf"}})
    if (name == text) return each;
  return std::nullopt;
}

bool is_measure(const store::Run& run) {
  const auto& findings = run.result.start.reference.findings;
  return std::none_of(findings.begin(), findings.end(), [](const outcome::TaskFinding& finding) { return outcome::unsound(finding.verdict); });
}

Rows rows(const std::vector<store::Run>& runs, const prompt::Templates& templates, const Options& options) {
  Rows result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_measure(runs[i])) {
      ++result.no_measure;
      continue;
    }
    const Source source(runs[i]);
    if (options.split != "all" && source.split() != options.split) {
      ++result.other_split;
      continue;
    }
    ++result.tasks;
    for (const json& row : Maker(source, templates, options, i).rows()) result.lines.push_back(row.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  return result;
}

std::map<std::string, std::string> harbor_task(const store::Run& run, const prompt::Templates& templates) {
  const Source source(run);
  std::string instruction;
  for (const auto& [_, text] : prompt_of(source, {}, templates, Style::full)) instruction += text + "\n\n";
  instruction += "Write the kernel file to /app/answer.cu.\n";
  const json metadata{{"task_sha256", base::sha256(run.identity.task_source)}, {"group", curriculum::group(source.structure)}, {"split", source.split()}};
  // A server outside the container judges, so that the container needs no GPU and holds nothing to tamper with.
  const std::string test = R"(#!/bin/sh
# Asks the judge at CUDAL1_URL. A fault is no reward: the test fails, and is run again.
set -eu
mkdir -p /logs/verifier
python3 - <<'END'
import json, os, urllib.request
body = {"task": {"source": open("/tests/task.cu").read()}, "answer": open("/app/answer.cu").read() if os.path.exists("/app/answer.cu") else ""}
headers = {"Content-Type": "application/json"}
if os.environ.get("CUDAL1_TOKEN"):
    headers["Authorization"] = "Bearer " + os.environ["CUDAL1_TOKEN"]
request = urllib.request.Request(os.environ["CUDAL1_URL"].rstrip("/") + "/v1/judge?brief=1", json.dumps(body).encode(), headers)
line = json.load(urllib.request.urlopen(request, timeout=1800))
if line["reward"] is None:
    raise SystemExit(line["fault"] or "it was not timed")
json.dump({"reward": line["reward"], "right": float(line["right"]), "speedup": line["score"], "cheat": float(line["cheat"])}, open("/logs/verifier/reward.json", "w"))
END
)";
  return {{"instruction.md", instruction},
          {"task.toml", fmt::format("version = \"1.0\"\n\n[metadata]\nauthor_name = \"cudal1\"\ncategory = \"cuda\"\ntask_sha256 = {}\ngroup = {}\nsplit = {}\n\n[verifier]\ntimeout_sec = 1800.0\n\n"
                                    "[agent]\ntimeout_sec = 1800.0\n\n[environment]\nbuild_timeout_sec = 600.0\n",
                                    metadata["task_sha256"].dump(), metadata["group"].dump(), metadata["split"].dump())},
          {"environment/Dockerfile", "FROM python:3.12-slim\nWORKDIR /app\n"},
          {"tests/task.cu", run.identity.task_source},
          {"tests/test.sh", test}};
}

}  // namespace cudal1::dataset
