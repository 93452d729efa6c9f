// SPDX-License-Identifier: Apache-2.0
#include "tuned_configuration.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;
using outcome::Verdict;

json tunables_json(const Tunables& tunables) {
  json object = json::object();
  for (const auto& [name, value] : tunables) object[name] = value;
  return object;
}

json configuration_json(const TunedConfiguration& one) {
  return {{"configuration", tunables_json(one.tunables)}, {"judged", one.timestamp}, {"remembered", one.remembered}, {"time_ms", one.ms() > 0 ? json(one.ms()) : json()},
          {"judgement", json::parse(outcome::to_json(one.judgement))}};
}

// The words that the schema knows.
const char* invalidity(Verdict verdict) {
  if (outcome::is_right(verdict)) return "correct";
  switch (verdict) {
    case Verdict::unsupported:
    case Verdict::invalid_plan:
    case Verdict::compile_failed:
    case Verdict::forbidden_code: return "compile";
    case Verdict::timeout: return "timeout";
    case Verdict::runtime_failed: return "runtime";
    default: return "correctness";
  }
}

double step(const outcome::Judgement& judgement, const char* name) {
  const auto found = judgement.step_seconds.find(name);
  return found == judgement.step_seconds.end() ? 0 : found->second;
}

}  // namespace

double TunedConfiguration::ms() const {
  if (!outcome::is_right(judgement.verdict) || judgement.workloads.empty()) return 0;
  double sum = 0;
  for (const auto& timing : judgement.workloads) sum += std::log(timing.variant_ms);
  return std::exp(sum / static_cast<double>(judgement.workloads.size()));
}

std::string label(const Tunables& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

TunedCache::TunedCache(std::filesystem::path file) : file_(std::move(file)) {}

std::vector<TunedConfiguration> TunedCache::read() const {
  std::vector<TunedConfiguration> known;
  std::error_code none;
  if (!std::filesystem::exists(file_, none)) return known;
  const std::string text = base::read_file(file_);
  for (const std::string_view line : base::split_lines(text)) try {
      const json one = json::parse(line);
      known.push_back({one.at("configuration").get<Tunables>(), outcome::judgement_from_json(one.at("judgement").dump()), one.at("judged").get<std::string>(), true});
    } catch (const json::exception&) {
    } catch (const base::Error&) {
    }
  return known;
}

void TunedCache::add(const TunedConfiguration& configuration) const {
  std::error_code none;
  std::filesystem::create_directories(file_.parent_path(), none);
  std::ofstream(file_, std::ios::app) << configuration_json(configuration).dump(-1, ' ', false, json::error_handler_t::replace) + "\n" << std::flush;
}

void TunedCache::forget() const {
  std::error_code none;
  std::filesystem::remove(file_, none);
}

std::string tuning_json(const TuningSummary& summary) {
  json tunables = json::array(), configurations = json::array();
  for (const auto& [name, values] : summary.tunables) tunables.push_back({{"name", name}, {"values", values}});
  for (const auto& one : summary.configurations) configurations.push_back(configuration_json(one));
  json best;
  if (summary.best < summary.configurations.size()) {
    best = {{"configuration", tunables_json(summary.configurations[summary.best].tunables)}, {"judgement", json::parse(outcome::to_json(summary.final_judgement))}};
  }
  return json{{"schema", 1},
              {"task", summary.task},
              {"device", summary.device},
              {"predicted", summary.predicted},
              {"combinations", summary.combinations},
              {"exhaustive", summary.exhaustive},
              {"stopped_because", summary.stopped_because},
              {"first", tunables_json(summary.first)},
              {"tunables", tunables},
              {"best", best},
              {"race", summary.race},
              {"configurations", configurations}}
             .dump(2, ' ', false, json::error_handler_t::replace) +
         "\n";
}

std::string t4_results(const TuningSummary& summary) {
  json results = json::array();
  for (const auto& one : summary.configurations) {
    json measurements = json::array(), runtimes = json::array();
    for (const auto& timing : one.judgement.workloads) runtimes.push_back(timing.variant_ms);
    if (one.ms() > 0) measurements.push_back({{"name", "time"}, {"value", one.ms()}, {"unit", "ms"}});
    if (one.judgement.energy_mj > 0) measurements.push_back({{"name", "energy"}, {"value", one.judgement.energy_mj}, {"unit", "mJ"}});
    measurements.push_back({{"name", "time_from"}, {"value", summary.predicted ? "prediction" : "measurement"}, {"unit", ""}});
    for (const auto& kernel : one.judgement.resources)
      measurements.push_back({{"name", "registers " + kernel.kernel}, {"value", kernel.registers}, {"unit", ""}});
    results.push_back({{"timestamp", one.timestamp},
                       {"configuration", tunables_json(one.tunables)},
                       {"objectives", {"time"}},
                       {"times", {{"compilation_time", step(one.judgement, "compile")}, {"validation", step(one.judgement, "check")},
                                  {"framework", one.judgement.seconds}, {"search_algorithm", 0}, {"runtimes", runtimes}}},
                       {"invalidity", invalidity(one.judgement.verdict)},
                       {"correctness", outcome::is_right(one.judgement.verdict) ? 1 : 0},
                       {"measurements", measurements}});
  }
  return json{{"schema_version", "1.0.0"}, {"results", results}}.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace cudal1::cli
