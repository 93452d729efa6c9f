// SPDX-License-Identifier: Apache-2.0
#include "outcome/counter_fields.hpp"
#include "outcome/judgement.hpp"

#include "base/error.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::outcome {

namespace {

using json = nlohmann::ordered_json;

constexpr int schema = 1;

// JSON has no infinities or NaN; a wrong element often is one.
json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

json counters_json(const Counters& counters) {
  json result = json::object();
  for (const auto& field : counter_fields)
    if (counters.*field.member != 0) result[std::string(field.name)] = counters.*field.member;
  return result;
}

Counters counters_from(const json& value) {
  Counters counters;
  for (const auto& field : counter_fields) counters.*field.member = value.value(std::string(field.name), 0.0);
  return counters;
}

json speedup_json(const Speedup& speedup) {
  return {{"value", speedup.value}, {"low", speedup.low}, {"high", speedup.high}};
}

Speedup speedup_from(const json& value) {
  return {value.at("value").get<double>(), value.at("low").get<double>(), value.at("high").get<double>()};
}

json diagnostic_json(const base::Diagnostic& diagnostic) {
  static constexpr const char* severities[] = {"error", "warning", "note"};
  return {{"severity", severities[static_cast<int>(diagnostic.severity)]},
          {"file", diagnostic.file},
          {"line", diagnostic.line},
          {"column", diagnostic.column},
          {"message", diagnostic.message},
          {"line_text", diagnostic.line_text},
          {"hint", diagnostic.hint}};
}

base::Diagnostic diagnostic_from(const json& value) {
  base::Diagnostic diagnostic;
  const auto severity = value.value("severity", "error");
  diagnostic.severity = severity == "warning" ? base::Diagnostic::Severity::warning
                        : severity == "note"  ? base::Diagnostic::Severity::note
                                              : base::Diagnostic::Severity::error;
  diagnostic.file = value.value("file", "");
  diagnostic.line = value.value("line", 0);
  diagnostic.column = value.value("column", 0);
  diagnostic.message = value.value("message", "");
  diagnostic.line_text = value.value("line_text", "");
  diagnostic.hint = value.value("hint", "");
  return diagnostic;
}

json finding_json(const Finding& finding) {
  return {{"kind", kind_name(finding.kind)},
          {"kernel", finding.kernel},
          {"file", finding.file},
          {"line", finding.line},
          {"block", finding.block},
          {"thread", finding.thread},
          {"address", finding.address},
          {"buffer", finding.buffer},
          {"offset_bytes", finding.offset},
          {"message", finding.message},
          {"other_line", finding.other_line},
          {"other_block", finding.other_block},
          {"other_thread", finding.other_thread}};
}

Finding finding_from(const json& value) {
  Finding finding;
  for (int kind = 0; kind <= static_cast<int>(Finding::Kind::other); ++kind)
    if (kind_name(static_cast<Finding::Kind>(kind)) == value.at("kind").get<std::string>())
      finding.kind = static_cast<Finding::Kind>(kind);
  finding.kernel = value.at("kernel");
  finding.file = value.at("file");
  finding.line = value.at("line");
  finding.block = value.at("block");
  finding.thread = value.at("thread");
  finding.address = value.at("address");
  finding.buffer = value.at("buffer");
  finding.offset = value.at("offset_bytes");
  finding.message = value.at("message");
  finding.other_line = value.at("other_line");
  finding.other_block = value.at("other_block");
  finding.other_thread = value.at("other_thread");
  return finding;
}

json wrong_json(const std::optional<WrongElement>& wrong) {
  if (!wrong) return nullptr;
  return {{"output", wrong->output},
          {"index", wrong->index},
          {"expected", number(wrong->expected)},
          {"got", number(wrong->got)}};
}

std::optional<WrongElement> wrong_from(const json& value) {
  if (value.is_null()) return std::nullopt;
  return WrongElement{value.at("output"), value.at("index"), number(value.at("expected")), number(value.at("got"))};
}

json resources_json(const ResourceFacts& facts) {
  json value{{"kernel", facts.kernel},
          {"registers", facts.registers},
          {"shared_bytes", facts.shared_bytes},
          {"local_bytes", facts.local_bytes},
          {"spill_store_bytes", facts.spill_store_bytes},
          {"spill_load_bytes", facts.spill_load_bytes},
          {"constant_bytes", facts.constant_bytes},
          {"max_threads_per_block", facts.max_threads_per_block}};
  if (!facts.serialized_wgmma.empty()) value["serialized_wgmma"] = facts.serialized_wgmma;
  return value;
}

ResourceFacts resources_from(const json& value) {
  return {value.at("kernel"),           value.at("registers"),        value.at("shared_bytes"),
          value.at("local_bytes"),      value.at("spill_store_bytes"), value.at("spill_load_bytes"),
          value.at("constant_bytes"),   value.at("max_threads_per_block"), value.value("serialized_wgmma", std::string())};
}

json baseline_json(const BaselineTiming& baseline) {
  return {{"name", baseline.name},
          {"time_ms", baseline.ms},
          {"speedup", baseline.speedup ? speedup_json(*baseline.speedup) : json()},
          {"prepare_seconds", baseline.prepare_seconds},
          {"failed", baseline.failed}};
}

BaselineTiming baseline_from(const json& value) {
  BaselineTiming baseline;
  baseline.name = value.at("name");
  baseline.ms = value.at("time_ms");
  if (const json& speedup = value.at("speedup"); !speedup.is_null()) baseline.speedup = speedup_from(speedup);
  baseline.prepare_seconds = value.at("prepare_seconds");
  baseline.failed = value.at("failed");
  return baseline;
}

json workload_json(const WorkloadTiming& timing) {
  return {{"sizes", timing.sizes},
          {"reference_time_ms", timing.reference_ms},
          {"time_ms", timing.variant_ms},
          {"speedup", speedup_json(timing.speedup)},
          {"pairs", timing.pairs},
          {"hot_speedup", timing.hot_speedup},
          {"share_of_limit", timing.share_of_limit},
          {"share_of_bandwidth", timing.share_of_bandwidth},
          {"share_of_arithmetic", timing.share_of_arithmetic},
          {"limited_by", timing.limited_by}};
}

WorkloadTiming workload_from(const json& value) {
  WorkloadTiming timing;
  timing.sizes = value.at("sizes").get<std::map<std::string, std::int64_t>>();
  timing.reference_ms = value.at("reference_time_ms");
  timing.variant_ms = value.at("time_ms");
  timing.speedup = speedup_from(value.at("speedup"));
  timing.pairs = value.at("pairs");
  timing.hot_speedup = value.at("hot_speedup");
  timing.share_of_limit = value.at("share_of_limit");
  timing.share_of_bandwidth = value.value("share_of_bandwidth", 0.0);
  timing.share_of_arithmetic = value.value("share_of_arithmetic", 0.0);
  timing.limited_by = value.at("limited_by");
  return timing;
}

json member_json(const TriedMember& member) {
  json value{{"tunables", member.tunables}};
  if (member.ms > 0) value["time_ms"] = member.ms;
  if (!member.problem.empty()) value["problem"] = member.problem;
  return value;
}

template <typename T, typename F>
json list(const std::vector<T>& values, F convert) {
  json result = json::array();
  for (const auto& value : values) result.push_back(convert(value));
  return result;
}

Judgement from(const json& value) {
  Judgement judgement;
  const auto verdict = parse_verdict(value.at("verdict").get<std::string>());
  if (!verdict) throw base::Error(base::Fault::bad_task, "unknown verdict " + value.at("verdict").dump());
  judgement.verdict = *verdict;
  judgement.predicted = value.at("predicted");
  judgement.level = value.at("level") == "final" ? Level::final_ : Level::screening;
  for (const auto& label : value.at("labels"))
    if (const auto known = parse_label(label.get<std::string>())) judgement.labels.insert(*known);
  judgement.message = value.at("message");
  const char* key = judgement.predicted ? "predicted_speedup" : "speedup";
  if (value.contains(key)) judgement.speedup = speedup_from(value.at(key));
  for (const auto& item : value.at("workloads")) judgement.workloads.push_back(workload_from(item));
  for (const auto& item : value.value("baselines", json::array())) judgement.baselines.push_back(baseline_from(item));
  judgement.tunables = value.at("tunables").get<std::map<std::string, std::int64_t>>();
  for (const auto& item : value.value("members", json::array()))
    judgement.members.push_back({item.at("tunables").get<std::map<std::string, std::int64_t>>(), item.value("time_ms", 0.0), item.value("problem", std::string())});
  judgement.code = value.value("code", std::string());
  judgement.energy_mj = value.value("energy_mj", 0.0);
  for (const auto& item : value.at("resources")) judgement.resources.push_back(resources_from(item));
  judgement.occupancy = value.at("occupancy");
  judgement.occupancy_limited_by = value.at("occupancy_limited_by");
  judgement.counters = counters_from(value.at("counters"));
  judgement.hardware = value.value("hardware", std::map<std::string, double>{});
  judgement.hardware_problem = value.value("hardware_problem", "");
  for (const auto& item : value.at("hot_lines"))
    judgement.hot_lines[item.at("line").get<int>()] = counters_from(item.at("counters"));
  for (const auto& item : value.at("diagnostics")) judgement.diagnostics.push_back(diagnostic_from(item));
  for (const auto& item : value.at("findings")) judgement.findings.push_back(finding_from(item));
  judgement.first_wrong = wrong_from(value.at("first_wrong"));
  judgement.worst_wrong = wrong_from(value.at("worst_wrong"));
  const auto& errors = value.at("errors");
  judgement.errors = {number(errors.at("relative_l2")), number(errors.at("max_absolute")),
                      number(errors.at("reference_relative_l2")), errors.at("trials").get<int>()};
  if (value.contains("kernelbench")) judgement.errors.kernelbench_tolerance = number(value.at("kernelbench").at("least_tolerance"));
  if (value.contains("full_size")) {
    judgement.errors.outputs = number(value.at("full_size").at("outputs"));
    judgement.errors.verified_outputs = number(value.at("full_size").at("verified"));
  }
  judgement.sanitizer = value.at("sanitizer");
  judgement.seconds = value.at("judging_seconds");
  judgement.step_seconds = value.value("step_seconds", std::map<std::string, double>{});
  return judgement;
}

}  // namespace

std::string to_json(const Judgement& judgement) {
  json value = {{"schema", schema},
                {"verdict", name(judgement.verdict, judgement.predicted)},
                {"predicted", judgement.predicted},
                {"level", name(judgement.level)}};
  value["labels"] = json::array();
  for (const auto label : judgement.labels) value["labels"].push_back(name(label));
  value["message"] = judgement.message;
  if (judgement.speedup)
    value[judgement.predicted ? "predicted_speedup" : "speedup"] = speedup_json(*judgement.speedup);
  value["workloads"] = list(judgement.workloads, workload_json);
  if (!judgement.baselines.empty()) value["baselines"] = list(judgement.baselines, baseline_json);
  value["tunables"] = judgement.tunables;
  if (!judgement.members.empty()) value["members"] = list(judgement.members, member_json);
  if (!judgement.code.empty()) value["code"] = judgement.code;
  if (judgement.energy_mj > 0) value["energy_mj"] = judgement.energy_mj;
  value["resources"] = list(judgement.resources, resources_json);
  value["occupancy"] = judgement.occupancy;
  value["occupancy_limited_by"] = judgement.occupancy_limited_by;
  value["counters"] = counters_json(judgement.counters);
  value["hardware"] = judgement.hardware;
  value["hardware_problem"] = judgement.hardware_problem;
  value["hot_lines"] = json::array();
  for (const auto& [line, counters] : judgement.hot_lines)
    value["hot_lines"].push_back({{"line", line}, {"counters", counters_json(counters)}});
  value["diagnostics"] = list(judgement.diagnostics, diagnostic_json);
  value["findings"] = list(judgement.findings, finding_json);
  value["first_wrong"] = wrong_json(judgement.first_wrong);
  value["worst_wrong"] = wrong_json(judgement.worst_wrong);
  value["errors"] = {{"relative_l2", number(judgement.errors.relative_l2)},
                     {"max_absolute", number(judgement.errors.max_absolute)},
                     {"reference_relative_l2", number(judgement.errors.reference_relative_l2)},
                     {"trials", judgement.errors.trials}};
  if (judgement.errors.outputs > 0)
    value["full_size"] = {{"outputs", judgement.errors.outputs}, {"verified", judgement.errors.verified_outputs}};
  if (const double least = judgement.errors.kernelbench_tolerance; least >= 0)
    value["kernelbench"] = {{"least_tolerance", number(least)}, {"accepts_at_1e-4", least <= 1e-4}, {"accepts_at_1e-2", least <= 1e-2}};
  value["sanitizer"] = judgement.sanitizer;
  value["judging_seconds"] = judgement.seconds;
  value["step_seconds"] = judgement.step_seconds;
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Judgement judgement_from_json(std::string_view text) {
  try {
    const json value = json::parse(text);
    if (value.at("schema") != schema)
      throw base::Error(base::Fault::bad_task,
                        fmt::format("a judgement of schema {} was found, this cudal1 reads schema {}",
                                    value.at("schema").dump(), schema));
    return from(value);
  } catch (const json::exception& problem) {
    throw base::Error(base::Fault::bad_task, fmt::format("a judgement could not be read: {}", problem.what()));
  }
}

}  // namespace cudal1::outcome
