// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "judged_variants.hpp"
#include "output_file.hpp"
#include "status_line.hpp"
#include "task_options.hpp"
#include "workbench.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "compile/own_headers.hpp"
#include "judge/candidate.hpp"
#include "kernel/dispatcher.hpp"
#include "kernel/output.hpp"
#include "report/judgement_table.hpp"
#include "report/wording.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct DispatchOptions {
  TaskOptions task;
  std::vector<std::string> variants;
  std::string output;
  DeviceOptions device;
  WorkbenchOptions workbench;
  bool as_json = false;
};

constexpr double worth_it = 1.01;   // of the best single variant's speed-up

// For each workload the variant that is fastest there; empty: fewer than two are.
std::vector<std::size_t> fastest_at_each(const std::vector<outcome::Judgement>& judged, std::size_t workloads) {
  std::vector<std::size_t> fastest;
  for (std::size_t w = 0; w < workloads; ++w) {
    std::size_t best = judged.size();
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if (!outcome::is_right(judged[i].verdict) || judged[i].workloads.size() != workloads) continue;
      if (best == judged.size() || judged[i].workloads[w].variant_ms < judged[best].workloads[w].variant_ms) best = i;
    }
    if (best == judged.size()) return {};
    fastest.push_back(best);
  }
  return std::all_of(fastest.begin(), fastest.end(), [&](std::size_t one) { return one == fastest.front(); }) ? std::vector<std::size_t>() : fastest;
}

// The dispatcher's text, and how it chooses.
struct Composed {
  std::string source;
  std::vector<std::pair<std::string, std::string>> choice;   // condition, variant's file
};

Composed composed(const DispatchOptions& options, const std::vector<std::string>& sources, const std::vector<outcome::Judgement>& judged, const std::vector<std::size_t>& fastest) {
  std::vector<std::size_t> used, groups;
  std::vector<std::map<std::string, std::int64_t>> sizes;
  for (std::size_t w = 0; w < fastest.size(); ++w) {
    const auto found = std::find(used.begin(), used.end(), fastest[w]);
    groups.push_back(static_cast<std::size_t>(found - used.begin()));
    if (found == used.end()) used.push_back(fastest[w]);
    sizes.push_back(judged[fastest[w]].workloads[w].sizes);
  }
  const auto conditions = kernel::dispatch_conditions(sizes, groups);
  if (conditions.empty()) throw base::Error(base::Fault::usage, "no single size tells the workloads apart at which different variants are the fastest; write `//@ when` lines yourself");
  std::vector<kernel::DispatchedPart> parts;
  Composed result;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto& tunables = judged[used[i]].tunables;
    parts.push_back({sources[used[i]], options.variants[used[i]], {tunables.begin(), tunables.end()}, conditions[i]});
    result.choice.emplace_back(conditions[i], options.variants[used[i]]);
  }
  auto text = kernel::dispatcher(parts);
  if (!text) throw base::Error(base::Fault::bad_input, base::render(text.error()));
  result.source = *std::move(text);
  return result;
}

void write_dispatcher(const DispatchOptions& options, const task::Task& task, const std::string& source) {
  auto candidate = judge::read_candidate(task, source, options.output);
  if (!candidate) throw base::Error(base::Fault::internal, candidate.error().message);
  std::vector<std::string> labels;
  for (const auto* list : {&task.workloads, &task.checks})
    for (const auto& workload : *list) labels.push_back(workload.label());
  base::write_file(options.output, compile::with_own_headers(kernel::output_file(task.file, candidate->file, {})) + kernel::verified_comment(labels));
}

ExitCode run_dispatch(const DispatchOptions& options, const Console& console) {
  require_writable(options.output, options.variants);
  std::vector<std::string> sources;
  for (const auto& file : options.variants) sources.push_back(base::read_file(file));
  const auto choice = choose_device(options.device);
  auto open = open_task(options.task, choice);
  if (task::is_module(open.task)) throw base::Error(base::Fault::usage, fmt::format("{}: a PyTorch module has one size", options.task.task));
  say_device(choice, options.workbench, console);
  Workbench workbench(open, choice, options.workbench);
  StatusLine status(console);
  status.show("the reference");
  workbench.judge.reference();
  std::vector<outcome::Judgement> judged;
  std::vector<report::NamedJudgement> shown;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    status.show("judging " + options.variants[i]);
    judged.push_back(workbench.judge.screen(sources[i], options.variants[i]));
    shown.push_back({options.variants[i], judged.back()});
  }
  const auto fastest = fastest_at_each(judged, open.task.workloads.size());
  std::string said;
  bool wins = false;
  json chosen = json::array();
  if (fastest.empty()) {
    status.clear();
    said = "no dispatcher: one variant is the fastest at every size";
  } else {
    const Composed made = composed(options, sources, judged, fastest);
    for (const auto& [condition, file] : made.choice) chosen.push_back({{"when", condition}, {"variant", file}});
    status.show("judging the dispatcher");
    auto judgement = workbench.judge.screen(made.source, "dispatcher");
    double best = 0;
    for (const auto& one : judged) best = std::max(best, one.score());
    if (outcome::is_right(judgement.verdict) && judgement.score() >= best * worth_it) judgement = workbench.judge.confirm(made.source, "dispatcher", {});
    status.clear();
    wins = outcome::is_right(judgement.verdict) && judgement.score() >= best * worth_it;
    said = wins ? "the dispatcher wins:" : "the dispatcher does not win; it would be:";
    for (const auto& [condition, file] : made.choice) said += fmt::format("\n  when {}: {}", condition, file);
    shown.push_back({"dispatcher", std::move(judgement)});
    if (wins && !options.output.empty()) write_dispatcher(options, open.task, made.source);
  }
  if (options.as_json) {
    json list = json::array();
    for (const auto& [name, judgement] : shown) list.push_back({{"file", name}, {"judgement", json::parse(outcome::to_json(judgement))}});
    console.result(json{{"schema", 1}, {"task", open.task.name()}, {"device", choice.identity()}, {"wins", wins}, {"choice", chosen}, {"variants", list}}.dump(2) + "\n");
  } else {
    console.print(report::judgement_table(shown, {console.colour(stdout), console.width(stdout)}));
    console.result("\n" + said + "\n");
  }
  if (!wins) return ExitCode::nothing_faster;
  return choice.fallback ? ExitCode::predicted_only : ExitCode::success;
}

}  // namespace

void add_dispatch(CommandLine& line) {
  auto options = std::make_shared<DispatchOptions>();
  Arguments app = line.add("dispatch", "One kernel file of several variants, each at the sizes where it is the fastest", manual_group, [options, &line] { return run_dispatch(*options, line.console); });
  add_task_options(app, options->task);
  app.add_option("VARIANT", options->variants, "Kernel files that answer the task")->required();
  app.add_option("-o,--output", options->output, "Write the dispatcher here, ready for nvcc, if it wins")->option_text("FILE");
  app.add_flag("--json", options->as_json, "Print one JSON object");
  add_device_options(app, options->device);
  add_judge_options(app, options->workbench);
}

}  // namespace cudal1::cli
