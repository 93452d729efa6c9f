// SPDX-License-Identifier: Apache-2.0
#include "report/document.hpp"

#include "base/text.hpp"
#include "kernel/file.hpp"
#include "outcome/precision.hpp"
#include "report/diff.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"
#include "search/ablation.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

using Status = search::Variant::Status;

bool predicted(const store::Run& run) { return run.result.start.reference.predicted; }

// The plan and the code: what a variant may change. The interface is the task's.
std::string code_of(const std::string& source, const std::string& name) {
  const auto file = kernel::parse(source, name);
  if (!file) return source;
  std::string plan;
  for (const auto& line : base::split_lines(source)) {
    std::string_view text = base::trim(line);
    if (!text.starts_with("//@")) continue;
    text = base::trim(text.substr(3));
    for (const std::string_view word : {"launch", "memset", "copy", "for ", "when ", "}", "tune", "scratch"})
      if (text.starts_with(word)) plan += line + "\n";
  }
  return plan + "\n" + kernel::code(*file);
}

void headline(const store::Run& run, Document& out) {
  out.push_back(Heading{1, fmt::format("{} on {}", run.identity.task_name, run.result.start.device.name)});
  const auto* best = run.result.best();
  if (!best) {
    out.push_back(Paragraph{run.result.variants.empty() ? "No answer came." : "No variant was right. What failed, and why, is in the table below.",
                            Paragraph::Kind::warning});
  } else {
    const auto& judgement = best->verdict();
    std::string line = fmt::format("{} {}", verdict(judgement), judgement.speedup ? text(*judgement.speedup) : "");
    line += fmt::format(": {} ({} verdict)", best->id, outcome::name(judgement.level));
    for (const auto label : judgement.labels) line += fmt::format(", {}", outcome::name(label));
    if (const auto note = sanitized(judgement); !note.empty()) line += fmt::format(", {}", note);
    out.push_back(Paragraph{line, Paragraph::Kind::verdict});
    if (const auto said = kernelbench(judgement.errors.kernelbench_tolerance); !said.empty()) out.push_back(Paragraph{said + "."});
    if (judgement.predicted)
      out.push_back(Paragraph{"Times are predictions of the simulator for this GPU, not measurements. Measure on a GPU "
                              "with: cudal1 bench TASK VARIANT --device cuda:0"});
    if (const auto note = full_size(judgement.errors); !note.empty())
      out.push_back(Paragraph{fmt::format("Of the predicted executions, {}.", note)});
    if (judgement.level == outcome::Level::screening)
      out.push_back(Paragraph{"No final verdict was taken; the number is a screening one.", Paragraph::Kind::warning});
  }
  if (!run.result.start.reference.oracle)
    out.push_back(Paragraph{fmt::format("{}: {}", run.result.start.reference.shadow ? "SHADOW_ORACLE" : "NO_ORACLE", run.result.start.reference.note), Paragraph::Kind::warning});
}

// Empty where no model counts any: the built-in one, a program.
std::string tokens(const model::Usage& usage) {
  if (usage.input_tokens + usage.output_tokens == 0) return "";
  std::string text = fmt::format("{} in, {} out", usage.input_tokens, usage.output_tokens);
  if (usage.cached_tokens > 0) text += fmt::format("; {} of the input cached", usage.cached_tokens);
  if (usage.reasoning_tokens > 0) text += fmt::format("; {} of the output reasoning", usage.reasoning_tokens);
  return text;
}

std::string cost(const model::Usage& usage) {
  if (usage.input_tokens + usage.output_tokens == 0) return "";
  if (!usage.priced) return usage.cost > 0 ? fmt::format("more than ${:.4f}: not every price is known", usage.cost) : "not known, because the model has no known price";
  return fmt::format("${:.4f}", usage.cost);
}

// The same run again, of the replies that it had: with every option but those of the model, of limits and of places.
std::string repeat_command(const store::Run& run) {
  const std::string replay = "replay:" + run.folder.string();
  if (!run.command) return fmt::format("cudal1 optimize {} --model {}", store::shell_quoted(run.identity.task_path), store::shell_quoted(replay));
  store::Command command = *run.command;
  for (const char* option : {"--model", "--base-url", "--key-command", "--key-variable", "--allow-remote", "--prices", "--cost-limit", "--token-limit", "--time-limit", "--out",
                             "--output", "--again", "--force", "--progress", "--quiet", "--json", "--color", "--no-color"})
    command.drop(option);
  command.set("--model", replay);
  command.folder.clear();
  return command.text();
}

void asked(const store::Run& run, Document& out) {
  const auto& id = run.identity;
  out.push_back(Heading{2, "What was asked"});
  Table table{{"", ""}, {}, {false, false}};
  const auto row = [&](const char* key, const std::string& value) {
    if (!value.empty()) table.rows.push_back({key, value});
  };
  row("task", fmt::format("{} (sha256 {})", id.task_path, id.task_digest.substr(0, 12)));
  row("device", id.device + (id.driver.empty() ? "" : ", driver " + id.driver));
  row("models", fmt::format("{}", fmt::join(id.models, ", ")));
  row("rounds", fmt::format("{} of {} samples, {} exemplars by {}", run.result.rounds.size(), id.samples, id.exemplars, id.sampling));
  row("seed", std::to_string(id.seed));
  const auto precision = outcome::parse_precision(id.precision);
  if (precision && (*precision != outcome::Precision::fp32 || id.task_path.ends_with(".py"))) row("precision", std::string(outcome::describe(*precision)));
  row("hint", id.hint);
  row("start", id.start_from_digest.substr(0, 12));
  if (!id.show_scores) row("scores", "hidden from the model");
  if (id.has_memory) row("lessons of earlier runs", id.memory.empty() ? "none yet" : fmt::format("{}", fmt::join(id.memory, "; ")));
  row("cudal1", id.version);
  row("stopped because", run.result.reason.empty() ? std::string(search::name(run.result.stopped_because)) : run.result.reason);
  row("tokens", tokens(run.result.usage));
  row("cost", cost(run.result.usage));
  row("repeat without the model", repeat_command(run));
  out.push_back(std::move(table));
}

void times(const store::Run& run, Document& out) {
  const auto& reference = run.result.start.reference;
  if (reference.times.empty()) return;  // a PyTorch module on the simulator
  const auto* best = run.result.best();
  Table table{{"workload", predicted(run) ? "reference, predicted" : "reference", "variant", "speed-up", "share of the limit", "limited by"},
              {},
              {false, true, true, true, true, false}};
  for (std::size_t i = 0; i < reference.times.size(); ++i) {
    const auto& time = reference.times[i];
    const bool timed = best && i < best->verdict().workloads.size();
    const outcome::WorkloadTiming variant = timed ? best->verdict().workloads[i] : outcome::WorkloadTiming{};
    table.rows.push_back({time.workload, milliseconds(time.ms), timed ? milliseconds(variant.variant_ms) : "",
                          timed ? text(variant.speedup) : "", timed ? percent(variant.share_of_limit) : "",
                          timed ? variant.limited_by : time.limited_by});
  }
  out.push_back(std::move(table));
  if (best) append_baselines(best->verdict(), out);
}

ScoreChart::Point point_of(const store::Run& run, const search::Variant& variant) {
  ScoreChart::Point point{variant.key.round, variant.judgement.score(), 0, 0, variant.id, variant.right(), 0};
  if (variant.judgement.speedup) point.low = variant.judgement.speedup->low, point.high = variant.judgement.speedup->high;
  const auto& models = run.identity.models;
  const auto model = std::find(models.begin(), models.end(), variant.model);
  if (model != models.end()) point.model = static_cast<std::size_t>(model - models.begin());
  return point;
}

void rounds(const store::Run& run, Document& out) {
  if (run.result.rounds.empty()) return;
  out.push_back(Heading{2, "Score per round"});
  Table table{{"round", "answers", "right", "faster", "best", "best so far"}, {}, std::vector<bool>(6, true)};
  ScoreChart chart;
  for (const auto& round : run.result.rounds) {
    table.rows.push_back({std::to_string(round.round), std::to_string(round.answers), std::to_string(round.right),
                          std::to_string(round.faster), round.best > 0 ? ratio(round.best) : "", ratio(round.best_so_far)});
    chart.best_so_far.push_back(round.best_so_far);
  }
  for (const auto& variant : run.result.variants)
    if (variant.status == Status::judged)
      chart.points.push_back(point_of(run, variant));
  chart.models = run.identity.models;
  out.push_back(std::move(table));
  out.push_back(std::move(chart));
}

// Where counts and times of one workload are known, with the arithmetic that most of it is.
void roofline(const store::Run& run, Document& out) {
  const auto& gpu = run.result.start.device;
  const auto operations = [](const outcome::Counters& c) { return c.fp32_flops + c.fp64_flops + c.fp16_flops + c.tensor_flops; };
  Roofline chart;
  outcome::Counters all;
  const auto add = [&](const outcome::Judgement& judgement, double ms, const std::string& id) {
    const double bytes = judgement.counters.dram_read_bytes + judgement.counters.dram_write_bytes, done = operations(judgement.counters);
    if (bytes <= 0 || done <= 0 || ms <= 0) return;
    all += judgement.counters;
    chart.points.push_back({done / bytes, done / ms * 1e3, id});
  };
  if (run.result.start.reference.times.size() != 1) return;
  add(run.result.start.reference.judgement, run.result.start.reference.times.front().ms, "the reference");
  for (const auto& variant : run.result.variants)
    if (variant.right() && variant.verdict().workloads.size() == 1) add(variant.verdict(), variant.verdict().workloads.front().variant_ms, variant.id);
  const std::pair<double, std::pair<double, const char*>> kinds[] = {{all.fp32_flops, {gpu.fp32_flops, "FP32"}},
                                                                    {all.fp64_flops, {gpu.fp64_flops, "FP64"}},
                                                                    {all.fp16_flops + all.tensor_flops, {gpu.fp16_tensor_flops, "FP16 tensor"}}};
  const auto most = std::max_element(std::begin(kinds), std::end(kinds), [](const auto& left, const auto& right) { return left.first < right.first; });
  chart.bytes_per_second = gpu.memory_bytes_per_second;
  chart.operations_per_second = most->second.first;
  chart.arithmetic = most->second.second;
  if (chart.points.empty() || chart.bytes_per_second <= 0 || chart.operations_per_second <= 0) return;
  out.push_back(std::move(chart));
}

void races(const store::Run& run, Document& out) {
  if (run.result.races.empty()) return;
  out.push_back(Heading{2, "Races"});
  out.push_back(Paragraph{"Variants of a round that their screenings could not tell apart were timed in turns, together with the best variant before. "
                          "A variant that was surely not the fastest left the race. The speed-ups below count from then on."});
  Table table{{"round", "variant", "over the fastest", "turns", "speed-up"}, {}, {true, false, true, true, true}};
  for (const auto& race : run.result.races) {
    for (const auto& racer : race.racers)
      table.rows.push_back({std::to_string(race.round), racer.id, text(racer.over_fastest), std::to_string(racer.turns),
                            text(racer.speedup)});
    if (!race.problem.empty()) table.rows.push_back({std::to_string(race.round), "void: " + base::printable(race.problem), "", "", ""});
  }
  out.push_back(std::move(table));
}

std::string what_happened(const search::Variant& variant) {
  if (variant.status == Status::duplicate) return fmt::format("the same source as {}", variant.same_as);
  if (variant.status != Status::judged) return variant.reason;
  const auto& judgement = variant.verdict();
  if (!variant.right()) return judgement.message;
  return judgement.workloads.empty() ? "" : fmt::format("limited by {}", judgement.workloads.front().limited_by);
}

// "0.0337 ms", or the first workload's of several.
std::string first_time(const outcome::Judgement& judgement) {
  return judgement.workloads.empty() ? "" : milliseconds(judgement.workloads.front().variant_ms);
}

void variants(const store::Run& run, Detail detail, Document& out) {
  if (run.result.variants.empty()) return;
  out.push_back(Heading{2, "Every variant"});
  Table table{{"variant", "verdict", "speed-up", "time", "registers", "occupancy", "techniques", "why"},
              {},
              {false, false, true, true, true, true, false, false}};
  const bool several_models = run.identity.models.size() > 1;
  if (several_models) table.columns.insert(table.columns.begin() + 1, "model"), table.numeric.insert(table.numeric.begin(), false);
  for (const auto& variant : run.result.variants) {
    const auto& judgement = variant.verdict();
    const bool judged = variant.status == Status::judged;
    std::vector<std::string> row{
        detail == Detail::full && &variant == run.result.best() ? variant.id + " (best)" : variant.id,
        judged ? verdict(judgement) : std::string(search::name(variant.status)),
        judged && judgement.speedup ? text(*judgement.speedup) : "",
        judged ? first_time(judgement) : "",
        judged && !judgement.resources.empty() ? std::to_string(judgement.resources.front().registers) : "",
        judged ? percent(judgement.occupancy) : "",
        fmt::format("{}", fmt::join(variant.techniques, ", ")),
        base::printable(what_happened(variant))};
    if (several_models) row.insert(row.begin() + 1, variant.model);
    table.rows.push_back(std::move(row));
  }
  out.push_back(std::move(table));
}

void winner(const store::Run& run, const search::Variant& best, Document& out) {
  out.push_back(Heading{2, "Why it is faster"});
  append_ablation(run.result, out);
  append_counters(run.result.start.reference.judgement, best.verdict(), out);
  append_resources(best.verdict(), out);
  if (!best.analysis.empty()) {
    out.push_back(Heading{3, "Performance analysis, as its author wrote it"});
    out.push_back(Quotation{base::printable(best.analysis)});
  }
  if (!best.design.empty()) {
    out.push_back(Heading{3, "Algorithm design"});
    out.push_back(Quotation{base::printable(best.design)});
  }
  out.push_back(Heading{2, "The winner against the reference"});
  const auto difference = unified_diff(code_of(run.identity.task_source, run.identity.task_path),
                                       code_of(best.source, best.id + ".cu"), run.identity.task_path, best.id + ".cu");
  out.push_back(Code{"diff", base::printable(difference)});
  if (!run.best_file.empty())
    out.push_back(Paragraph{fmt::format("The whole kernel, ready for nvcc: {}", run.best_file)});
}

// What a second model said. Never more than a remark.
void review(const store::Run& run, Document& out) {
  if (!run.result.review) return;
  const search::Review& review = *run.result.review;
  out.push_back(Heading{2, "A reviewer's remark"});
  const std::string where = fmt::format("{} is {} the score of the next best. {} was shown it beside the known cheats most like it ({})", review.id, ratio(review.jump),
                                        review.model, fmt::join(review.shown, ", "));
  if (!review.answered) return out.push_back(Paragraph{fmt::format("{}, and gave no opinion: {}", where, base::printable(review.remark))});
  out.push_back(Paragraph{fmt::format("{}, and finds it {}. That changes no verdict.", where, review.suspicious ? "suspicious" : "clean")});
  if (!review.remark.empty()) out.push_back(Quotation{base::printable(review.remark)});
}

// The exemplars that the winner's author had seen, back to the first round.
void lineage(const store::Run& run, const search::Variant& best, Document& out) {
  std::vector<const search::Variant*> chain, open{&best};
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    if (std::find(chain.begin(), chain.end(), at) != chain.end()) continue;
    chain.push_back(at);
    for (const auto& variant : run.result.variants)
      if (std::find(at->exemplars.begin(), at->exemplars.end(), variant.id) != at->exemplars.end() || variant.id == at->repairs)
        open.push_back(&variant);
  }
  if (chain.size() < 2) return;
  out.push_back(Heading{2, "The analyses that led to it"});
  std::sort(chain.begin(), chain.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  for (const auto* variant : chain) {
    if (variant == &best) continue;
    out.push_back(Heading{3, fmt::format("{}, {}", variant->id,
                                         variant->right() ? ratio(variant->score()) : what_happened(*variant))});
    if (!variant->analysis.empty()) out.push_back(Quotation{base::printable(variant->analysis)});
  }
}

void failures(const store::Run& run, Document& out) {
  bool any = false;
  for (const auto& variant : run.result.variants) {
    const auto text = variant.status == Status::judged ? evidence(variant.judgement) : "";
    if (variant.right() || text.empty()) continue;
    if (!any) out.push_back(Heading{2, "What failed"});
    any = true;
    out.push_back(Heading{3, fmt::format("{}: {}", variant.id, verdict(variant.judgement))});
    out.push_back(Code{"", base::printable(text)});
  }
}

}  // namespace

Document document(const store::Run& run, Detail detail) {
  Document out;
  headline(run, out);
  if (detail == Detail::full) asked(run, out);
  if (detail == Detail::full) out.push_back(Heading{2, "Result"});
  times(run, out);
  if (detail == Detail::brief)
    if (const auto said = tokens(run.result.usage); !said.empty()) out.push_back(Paragraph{fmt::format("Tokens: {}. Cost: {}.", said, cost(run.result.usage))});
  if (detail == Detail::full) {
    rounds(run, out);
    roofline(run, out);
    races(run, out);
  }
  variants(run, detail, out);
  const auto* best = run.result.best();
  if (detail == Detail::full || (run.result.review && (run.result.review->suspicious || !run.result.review->answered))) review(run, out);
  if (detail == Detail::full && best) {
    winner(run, *best, out);
    lineage(run, *best, out);
  } else if (search::ablation(run.result)) {
    out.push_back(Heading{2, "Why it is faster"});
    append_ablation(run.result, out);
  }
  if (detail == Detail::full) append_rejections(run, out);
  if (detail == Detail::full || !best) failures(run, out);
  return out;
}

}  // namespace cudal1::report
