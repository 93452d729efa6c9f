// SPDX-License-Identifier: Apache-2.0
#include "report/formats.hpp"
#include "judge/reference_json.hpp"
#include "search/ablation.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace cudal1::report {

namespace {

using json_value = nlohmann::ordered_json;

constexpr int schema = 1;

// Over the workloads, as the score is; each workload's own time stands in `reference` and in the judgements.
json_value geometric_mean(const std::vector<double>& times) {
  if (times.empty()) return nullptr;
  double sum = 0;
  for (const double time : times) sum += std::log(time);
  return std::exp(sum / static_cast<double>(times.size()));
}

json_value judgement_value(const outcome::Judgement& judgement) {
  return json_value::parse(outcome::to_json(judgement));
}

json_value best_value(const store::Run& run) {
  const auto* best = run.result.best();
  if (!best) return nullptr;
  const auto& judgement = best->verdict();
  json_value value = {{"id", best->id}, {"verdict", outcome::name(judgement.verdict, judgement.predicted)}};
  if (judgement.speedup) {
    value[judgement.predicted ? "predicted_speedup" : "speedup"] = judgement.speedup->value;
    value["interval"] = {judgement.speedup->low, judgement.speedup->high};
  }
  value["level"] = outcome::name(judgement.level);
  value["labels"] = json_value::array();
  for (const auto label : judgement.labels) value["labels"].push_back(outcome::name(label));
  std::vector<double> times;
  for (const auto& timing : judgement.workloads) times.push_back(timing.variant_ms);
  value["time_ms"] = geometric_mean(times);
  value["tunables"] = judgement.tunables;
  value["file"] = run.best_file.empty() ? json_value(nullptr) : json_value(run.best_file);
  return value;
}

json_value variant_value(const search::Variant& variant) {
  json_value value = {{"id", variant.id},
                      {"round", variant.key.round},
                      {"sample", variant.key.sample},
                      {"attempt", variant.key.attempt},
                      {"model", variant.model},
                      {"status", search::name(variant.status)},
                      {"reason", variant.reason},
                      {"same_as", variant.same_as},
                      {"repairs", variant.repairs},
                      {"reverts", variant.reverts},
                      {"undone", variant.undone},
                      {"exemplars", variant.exemplars},
                      {"techniques", variant.techniques}};
  const bool judged = variant.status == search::Variant::Status::judged;
  value["judgement"] = judged ? judgement_value(variant.judgement) : json_value(nullptr);
  value["confirmation"] = variant.confirmation ? judgement_value(*variant.confirmation) : json_value(nullptr);
  return value;
}

json_value reference_value(const judge::ReferenceFacts& reference) {
  json_value findings = json_value::array();
  for (const auto& finding : reference.findings)
    findings.push_back({{"verdict", outcome::name(finding.verdict)}, {"reason", finding.reason}});
  return {{"predicted", reference.predicted},
          {"oracle", reference.oracle},
          {"shadow_oracle", reference.shadow},
          {"note", reference.note},
          {"precision", outcome::name(reference.precision)},
          {"findings", findings},
          {"times", json_value::parse(judge::times_json(reference))}};
}

json_value race_value(const search::Race& race) {
  json_value racers = json_value::array();
  for (const auto& racer : race.racers)
    racers.push_back({{"id", racer.id},
                      {"over_fastest", racer.over_fastest.value},
                      {"interval", {racer.over_fastest.low, racer.over_fastest.high}},
                      {"turns", racer.turns},
                      {"speedup", racer.speedup.value}});
  return {{"round", race.round}, {"racers", std::move(racers)}, {"problem", race.problem}, {"seconds", race.seconds}};
}

json_value ablation_value(const search::Result& result) {
  const auto ablation = search::ablation(result);
  if (!ablation) return nullptr;
  const auto factor_value = [](const search::Factor& factor) {
    json_value value = {{"without", factor.techniques}, {"id", factor.without->id}, {"problem", factor.problem}};
    value["factor"] = factor.problem.empty() ? json_value(factor.value) : json_value(nullptr);
    if (factor.problem.empty()) value["interval"] = {factor.low, factor.high};
    return value;
  };
  json_value value = {{"winner", ablation->winner->id}, {"single", json_value::array()}, {"pairs", json_value::array()}};
  for (const auto& factor : ablation->single) value["single"].push_back(factor_value(factor));
  for (const auto& factor : ablation->pairs) {
    auto pair = factor_value(factor);
    pair["together"] = search::name(ablation->together(factor));
    value["pairs"].push_back(std::move(pair));
  }
  return value;
}

json_value review_value(const std::optional<search::Review>& review) {
  if (!review) return nullptr;
  return {{"id", review->id},
          {"model", review->model},
          {"jump", review->jump},
          {"answered", review->answered},
          {"suspicious", review->answered ? json_value(review->suspicious) : json_value(nullptr)},
          {"remark", review->remark},
          {"shown", review->shown}};
}

}  // namespace

std::string json(const store::Run& run, const Style&) {
  const auto& id = run.identity;
  const auto& result = run.result;
  json_value value = {{"schema", schema},
                      {"cudal1", id.version},
                      {"task", id.task_name},
                      {"task_file", id.task_path},
                      {"task_sha256", id.task_digest},
                      {"device", id.device},
                      {"gpu", result.start.device.name}};
  std::vector<double> times;
  for (const auto& time : result.start.reference.times) times.push_back(time.ms);
  value["reference_time_ms"] = geometric_mean(times);
  value["reference"] = reference_value(result.start.reference);
  value["best"] = best_value(run);
  value["rounds"] = result.rounds.size();
  value["score_per_round"] = json_value::array();
  for (const auto& round : result.rounds)
    value["score_per_round"].push_back({{"round", round.round},
                                        {"answers", round.answers},
                                        {"right", round.right},
                                        {"faster", round.faster},
                                        {"duplicates", round.duplicates},
                                        {"best", round.best},
                                        {"best_so_far", round.best_so_far}});
  value["races"] = json_value::array();
  for (const auto& race : result.races) value["races"].push_back(race_value(race));
  value["ablation"] = ablation_value(result);
  value["review"] = review_value(result.review);
  value["judged"] = result.judged();
  value["stopped_because"] = run.complete ? json_value(search::name(result.stopped_because)) : json_value(nullptr);
  value["stop_reason"] = result.reason;
  value["models"] = id.models;
  value["seed"] = id.seed;
  value["usage"] = {{"input_tokens", result.usage.input_tokens},
                    {"output_tokens", result.usage.output_tokens},
                    {"cached_tokens", result.usage.cached_tokens},
                    {"reasoning_tokens", result.usage.reasoning_tokens},
                    {"cost_usd", result.usage.cost},
                    {"priced", result.usage.priced}};
  value["run"] = run.folder.string();
  value["begun"] = run.begun;
  value["ended"] = run.ended;
  value["variants"] = json_value::array();
  for (const auto& variant : result.variants) value["variants"].push_back(variant_value(variant));
  return value.dump(2, ' ', false, json_value::error_handler_t::replace) + "\n";
}

}  // namespace cudal1::report
