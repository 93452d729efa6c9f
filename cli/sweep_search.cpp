// SPDX-License-Identifier: Apache-2.0
#include "sweep_search.hpp"

#include "sweep_export.hpp"

#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "pytorch/interface.hpp"
#include "search/search.hpp"
#include "search/technique_use.hpp"
#include "store/memory.hpp"
#include "store/run.hpp"
#include "store/run_folder.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

using report::SweepRow;

// Replies of an earlier sweep and those that a person or program gives are kept by task. False: the earlier sweep had
// none for this one.
bool take_replies_of(const SweepTask& task, std::vector<std::string>& models) {
  constexpr std::string_view replay = "replay:", exchange = "exchange:";
  bool any = false;
  for (auto& model : models) {
    if (model.starts_with(exchange)) model = (std::filesystem::path(model) / task.folder()).string();
    const auto tasks = std::filesystem::path(model.substr(std::min(model.size(), replay.size()))) / "tasks";
    const bool of_a_sweep = model.starts_with(replay) && std::filesystem::is_directory(tasks);
    if (of_a_sweep) model = fmt::format("{}{}", replay, (tasks / task.folder()).string());
    any = any || !of_a_sweep || std::filesystem::is_directory(tasks / task.folder() / "replies");
  }
  return any;
}

void count_techniques(const search::Result& result, SweepRow& row) {
  row.by_technique = search::technique_uses(result);
}

// Where the `searched` seconds went: what PyTorch takes comes off, and "judging: …" are all judgements' steps, of which several may be under way at once.
void note_seconds(const search::Result& result, double searched, SweepRow& row) {
  const auto& reference = result.start.reference.judgement.step_seconds;
  row.breakdown["search and judging"] = searched;
  for (const char* step : {"oracle", "torch.compile", "baselines"}) {
    const auto took = reference.find(step);
    row.breakdown[step] = took == reference.end() ? 0 : took->second;
    row.breakdown["search and judging"] -= row.breakdown[step];
  }
  const auto add = [&](const outcome::Judgement& judgement) {
    for (const auto& [step, seconds] : judgement.step_seconds) row.breakdown["judging: " + step] += seconds;
  };
  for (const auto& variant : result.variants) {
    if (variant.status == search::Variant::Status::judged) add(variant.judgement);
    if (variant.confirmation) add(*variant.confirmation);
  }
}

// `names`: a model as it was opened for this task → as the sweep was given it.
void describe(const store::Run& run, const std::map<std::string, std::string>& names, SweepRow& row) {
  const auto name_of = [&](const std::string& model) {
    const auto found = names.find(model);
    return found == names.end() ? model : found->second;
  };

  const bool examined = row.key.ends_with(".py");   // by its own gate, which names kinds
  for (const auto& finding : run.result.start.reference.findings)
    if (!examined && outcome::unsound(finding.verdict)) row.defects = {std::string(outcome::name(finding.verdict))};
  for (const auto& variant : run.result.variants) {
    row.answers += 1;
    row.right += variant.right() ? 1 : 0;
  }
  row.cost = run.result.usage.cost;
  for (const auto& variant : run.result.variants) {
    if (variant.model.empty()) continue;
    auto& share = row.by_model[name_of(variant.model)];
    ++share.answers;
    share.right += variant.right() ? 1 : 0;
  }
  count_techniques(run.result, row);
  const auto* best = run.result.best();
  if (best == nullptr || !outcome::is_right(best->verdict().verdict)) {
    row.status = SweepRow::Status::nothing_right;
    row.message = row.answers == 0 ? run.result.reason : "no answer is right";
    return;
  }
  const outcome::Judgement& judgement = best->verdict();
  row.status = SweepRow::Status::verified;
  row.techniques = best->techniques;
  if (!best->model.empty()) row.by_model[name_of(best->model)].won = 1;
  row.message = judgement.message;
  row.verdict = outcome::name(judgement.verdict, judgement.predicted);
  row.predicted = judgement.predicted;
  for (const auto label : judgement.labels) row.labels.emplace_back(outcome::name(label));
  row.kernelbench_tolerance = judgement.errors.kernelbench_tolerance;
  const bool unbeaten = run.result.start.reference.times.empty();
  const auto ratio = [](const outcome::Speedup& speedup) { return SweepRow::Ratio{speedup.value, speedup.low, speedup.high, ""}; };
  for (const auto& baseline : judgement.baselines)
    if (baseline.speedup) row.ratios[baseline.name] = ratio(*baseline.speedup);
    else row.ratios[baseline.name].failed = baseline.failed;
  if (judgement.speedup && (row.ratios.empty() || row.key.ends_with(".cu"))) row.ratios[unbeaten ? "first right variant" : "reference"] = ratio(*judgement.speedup);
  if (!judgement.workloads.empty()) row.time_ms = judgement.workloads.front().variant_ms;
  for (const auto& timing : judgement.workloads) row.share_of_limit = std::max(row.share_of_limit, timing.share_of_limit);
  row.best = run.best_file;
}

// The search of one task, from its folder on. What it is given must outlive it.
class TaskSearch {
 public:
  TaskSearch(const SweepSearch& sweep, const RunOptions& run, const task::Task& task, const DeviceChoice& choice, const std::filesystem::path& place,
             const Console& console)
      : task_(task), options_(search_options(run)), templates_(prompt_templates(run)), starter_(starter(run, task)) {
    if (sweep.time_limit > 0) options_.wall_limit = base::Seconds(sweep.time_limit);
    if (sweep.cost_limit > 0) options_.cost_limit = sweep.cost_limit;
    options_.starter = starter_.get();
    models_ = models_to_ask(run, task, options_, console);
    auto identity = identity_of(run, task, options_, choice, templates_);
    recall_memory(run, task, choice, place, options_, identity);
    folder_.emplace(place, task, identity, sweep.force ? store::RunFolder::Existing::force : store::RunFolder::Existing::resume);
  }

  search::Result go_on(search::Referee& referee, const std::stop_token& stop) {
    std::vector<model::Model*> asked;
    for (const auto& model : models_) asked.push_back(model.get());
    search::Observers observers({&*folder_});
    return search::run(task_, referee, asked, templates_, options_, observers, *folder_, stop);
  }

 private:
  const task::Task& task_;
  search::Options options_;
  prompt::Templates templates_;
  std::unique_ptr<model::Model> starter_;
  Models models_;
  std::optional<store::RunFolder> folder_;
};

// Stands where a run that goes on has its verdicts in its journal. What is not there yet ends it.
class Absent final : public search::Referee {
 public:
  struct Needed {};
  const outcome::DeviceFacts& device() override { throw Needed(); }
  const judge::ReferenceFacts& reference() override { throw Needed(); }
  outcome::Judgement screen(const std::string&, const std::string&) override { throw Needed(); }
  std::optional<judge::Race> race(const std::vector<judge::Entrant>&) override { throw Needed(); }
  outcome::Judgement confirm(const std::string&, const std::string&, const std::map<std::string, std::int64_t>&) override { throw Needed(); }
};

// A run that goes on may have nothing to judge, because it waits for replies that somebody gives: then its next prompts need neither PyTorch
// nor a turn on the device. Nothing where a judge is needed.
std::optional<TaskEnd> ask_alone(const SweepSearch& sweep, const RunOptions& run, const SweepTask& task, const DeviceChoice& choice, const std::filesystem::path& place,
                                 const Console& console, const std::stop_token& stop) {
  const auto waits = [](const std::string& model) { return model.starts_with("exchange:"); };   // others would be asked, and not waited for
  std::error_code none;
  if (!std::all_of(run.model.models.begin(), run.model.models.end(), waits) || !std::filesystem::exists(place / "journal.jsonl", none)) return std::nullopt;
  const store::Run known = store::load(place);
  const std::string source = base::read_file(task.file, std::size_t{16} << 20);
  if (known.result.start.device.name.empty() || !pytorch::describes(known.identity.task_source, source, overrides(run.task.set))) return std::nullopt;
  const auto set = pytorch::is_module(task.file.string()) ? std::map<std::string, std::int64_t>() : overrides(run.task.set);
  const task::Task same = task::from_source(known.identity.task_source, task.file, set);
  Absent nobody;
  try {
    const search::Result result = TaskSearch(sweep, run, same, choice, place, console).go_on(nobody, stop);
    if (result.stopped_because == search::Stop::pending) return TaskEnd{TaskEnd::Kind::waiting, result.reason};
  } catch (const Absent::Needed&) {
  }
  return std::nullopt;
}

TaskEnd search_one(const SweepSearch& sweep, const Console& console, GpuShares& shares, const std::stop_token& stop, const SweepTask& task, const DeviceChoice& choice,
                   SweepLane& lane, SweepRow& row) {
  RunOptions run = sweep.run;
  run.task.task = task.file.string();
  run.task.time_limit = sweep.time_limit;
  run.task.stop = stop;
  run.task.set = settings_of(task, run.task.set);
  run.workbench.accept_degenerate = true;   // judged without earning a speed-up, and no sound task
  const auto given = run.model.models;
  if (!take_replies_of(task, run.model.models)) {
    row.status = SweepRow::Status::nothing_right;
    row.message = "the earlier sweep had no reply for it";
    return {};
  }
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < given.size(); ++i) names[run.model.models[i]] = given[i];
  const auto place = sweep.folder / "tasks" / task.folder();
  if (const auto end = ask_alone(sweep, run, task, choice, place, console, stop)) return *end;
  // Later the other lanes' work would have to stand still for a second before anybody else's could be seen.
  run.workbench.look_for_tenants = !std::exchange(lane.began, true) || choice.sharers <= 1;
  const base::Seconds began = base::now();
  SharedTask shared = open_shared(run.task, choice, shares, std::move(lane.host));
  OpenTask& open = shared.open;
  for (const auto& [kind, finding] : open.defects)
    (finding.verdict == outcome::TaskVerdict::collapsible ? row.labels : row.defects).push_back(kind);
  row.task = open.task.name();
  row.breakdown = {{"PyTorch start", open.start_seconds}, {"load", (base::now() - began).count() - open.start_seconds - shared.gate_seconds},
                   {"task gate", shared.gate_seconds}};
  if (shared.refusal) {
    give_back(shared, choice, lane.host);
    row.status = SweepRow::Status::refused;
    row.message = *shared.refusal;
    return {};
  }
  const base::Seconds judged = base::now();
  {
    TaskSearch search(sweep, run, open.task, choice, place, console);
    Workbench workbench(open, choice, run.workbench);
    search::JudgeReferee referee(workbench.judges());
    search.go_on(referee, stop);
  }
  const double searched = (base::now() - judged).count();
  const auto result = store::load(place);
  note_seconds(result.result, searched, row);
  if (search::resumable(result.result.stopped_because)) {
    give_back(shared, choice, lane.host);
    return {result.result.stopped_because == search::Stop::pending ? TaskEnd::Kind::waiting : TaskEnd::Kind::stopped, result.result.reason};
  }
  if (!run.memory.empty()) store::remember(run.memory, result, open.task);
  describe(result, names, row);
  const base::Seconds exported = base::now();
  for (const auto& form : sweep.exports) try {
      if (row.status == SweepRow::Status::verified) export_answer({sweep.folder, form}, task, open, result.best_file);
    } catch (const base::Error& error) {   // the answer stays right
      row.message += fmt::format("; not exported ({}): {}", form, error.what());
    }
  if (!sweep.exports.empty()) row.breakdown["export"] = (base::now() - exported).count();
  give_back(shared, choice, lane.host);
  return {};
}

// How often and how long is looked, where that is not as usual.
std::string judging_text(const RunOptions& options) {
  const RunOptions usual;
  const auto unusual = [](const char* name, int value, int usually) { return value == usually ? "" : fmt::format("; {} {}", name, value); };
  return unusual("trials", options.workbench.trials, usual.workbench.trials) + unusual("final pairs", options.workbench.final_pairs, usual.workbench.final_pairs) +
         unusual("confirmations", options.search.confirmations, usual.search.confirmations);
}

}  // namespace

std::string options_text(const SweepSearch& options) {
  const auto& search = options.run.search;
  return fmt::format("rounds {}; samples {}; seed {}; exemplars {}; sampling {}; tau {}; bucket width {}; repair {}; ablate {}; hint {}; set {}; precision {}; baselines {}; start from {}{}{}; "
                     "prompts {}; time limit {}; cost limit {}{}",
                     search.rounds, search.samples, options.run.workbench.seed, search.exemplars, options.run.sampling, search.tau, search.bucket_width,
                     !options.run.no_repair, search.ablate, search.hint, fmt::join(options.run.task.set, ","), options.run.workbench.precision,
                     fmt::join(options.run.workbench.baselines, ","), options.run.start_from, options.run.hide_scores ? "; scores hidden" : "", options.run.memory.empty() ? "" : "; with a memory", options.run.prompts, options.time_limit, options.cost_limit,
                     judging_text(options.run));
}

SweepWork searching(const SweepSearch& search, const Console& console, GpuShares& shares, const std::stop_token& stop) {
  return {[&search](const SweepTask& task) { return digest_of(task, search.run.task.set); },
          [&search, &console, &shares, stop](const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, SweepRow& row) {
            return search_one(search, console, shares, stop, task, choice, lane, row);
          }};
}

}  // namespace cudal1::cli
