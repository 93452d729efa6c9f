// SPDX-License-Identifier: Apache-2.0
#include "store/memory.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "search/technique_use.hpp"
#include "task/kind.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace fs = std::filesystem;

namespace {

using json = nlohmann::ordered_json;
using Status = search::Variant::Status;

constexpr int memory_schema = 1;
constexpr std::size_t longest_example = 160;

json techniques_json(const Run& run) {
  json list = json::array();
  for (const auto& [name, use] : search::technique_uses(run.result))
    list.push_back({{"name", name}, {"tried", use.answers}, {"right", use.right}, {"timed", use.timed}, {"gain", use.gain}});
  return list;
}

json failures_json(const Run& run) {
  std::map<std::string, std::pair<int, std::string>> failures;
  for (const auto& variant : run.result.variants) {
    if (variant.status != Status::judged || variant.right()) continue;
    auto& [count, example] = failures[std::string(outcome::name(variant.judgement.verdict))];
    ++count;
    if (example.empty()) example = variant.judgement.message.substr(0, variant.judgement.message.find('\n'));
    if (example.size() > longest_example) example = example.substr(0, longest_example) + "…";
  }
  json list = json::array();
  for (const auto& [verdict, failure] : failures) list.push_back({{"verdict", verdict}, {"count", failure.first}, {"example", failure.second}});
  return list;
}

struct Sum {
  int runs = 0, tried = 0, right = 0, timed = 0;
  double log_gain = 0;

  double gain() const { return timed > 0 ? std::exp(log_gain / timed) : 1; }
};

struct Failure {
  int count = 0;
  std::string example;
};

// All runs of one kind on one GPU.
struct Experience {
  int runs = 0, answers = 0;
  std::map<std::string, Sum> techniques;
  std::map<std::string, Failure> failures;

  void add(const json& value) {
    ++runs;
    answers += value.at("judged").get<int>();
    for (const auto& one : value.at("techniques")) {
      Sum& sum = techniques[one.at("name").get<std::string>()];
      ++sum.runs;
      sum.tried += one.at("tried").get<int>();
      sum.right += one.at("right").get<int>();
      const int timed = one.value("timed", 0);  // files of before say no such number: their gains were others, or missing
      if (timed == 0) continue;
      sum.timed += timed;
      sum.log_gain += timed * std::log(one.at("gain").get<double>());
    }
    for (const auto& one : value.at("failures")) {
      Failure& failure = failures[one.at("verdict").get<std::string>()];
      failure.count += one.at("count").get<int>();
      failure.example = one.at("example");
    }
  }
};

template <typename Map, typename Before>
auto ranked(const Map& map, std::size_t most, Before before) {
  std::vector<std::pair<std::string, typename Map::mapped_type>> list(map.begin(), map.end());
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return before(a.second, b.second); });
  if (list.size() > most) list.resize(most);
  return list;
}

}  // namespace

void remember(const fs::path& memory, const Run& run, const task::Task& task) {
  if (run.result.judged() == 0) return;
  const json value = {{"schema", memory_schema},
                      {"task", run.identity.task_name},
                      {"task_sha256", run.identity.task_digest},
                      {"kind", task::kind(task)},
                      {"gpu", run.result.start.device.name},
                      {"device", run.identity.device},
                      {"models", run.identity.models},
                      {"judged", run.result.judged()},
                      {"best", run.result.best() ? run.result.best()->score() : 0.0},
                      {"techniques", techniques_json(run)},
                      {"failures", failures_json(run)}};
  const auto name = default_folder(run.identity).filename().string() + ".json";
  base::write_file(memory / name, value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::vector<std::string> recall(const fs::path& memory, std::string_view kind, const std::string& gpu, std::size_t most_techniques,
                                std::size_t most_failures) {
  Experience experience;
  std::error_code none;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(memory, none))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) try {
      const json value = json::parse(base::read_file(file));
      if (value.at("schema") == memory_schema && value.at("kind") == kind && value.at("gpu") == gpu) experience.add(value);
    } catch (const json::exception& problem) {
      throw base::Error(base::Fault::usage, fmt::format("{} is damaged: {}\nremove the file, or name another folder with --memory", file.string(), problem.what()));
    }
  std::vector<std::string> lines;
  for (const auto& [name, sum] : ranked(experience.techniques, most_techniques, [](const Sum& a, const Sum& b) { return a.gain() > b.gain(); }))
    lines.push_back(fmt::format("{}: {} answers in {} runs, {} right{}", name, sum.tried, sum.runs, sum.right,
                                sum.timed == 0 ? "" : fmt::format("; {:.2f}× as fast as the best that their prompts showed, geometric mean over {}", sum.gain(), sum.timed)));
  for (const auto& [verdict, failure] : ranked(experience.failures, most_failures, [](const Failure& a, const Failure& b) { return a.count > b.count; }))
    lines.push_back(fmt::format("{} in {} of {} answers, as in: {}", verdict, failure.count, experience.answers, failure.example));
  return lines;
}

}  // namespace cudal1::store
