// SPDX-License-Identifier: Apache-2.0
#include "answer_sweep.hpp"

#include "answer_set.hpp"
#include "published_answers.hpp"

#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "judge/answer.hpp"
#include "report/sweep.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

using report::SweepRow;

// The answers that have a task, by the row's key.
struct Matched {
  std::vector<SweepTask> tasks;                       // one for each answer, with the row's key
  std::map<std::string, PublishedAnswer> answers;
  std::vector<std::string> remarks;
};

// Without blanks, which the release's copies of the tasks and KernelBench's differ in.
std::string without_blanks(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

// The texts that answers were published with, as a folder of tasks.
std::filesystem::path write_tasks(const std::vector<PublishedAnswer>& answers, const std::filesystem::path& folder) {
  for (const PublishedAnswer& answer : answers) {
    if (answer.task.empty())
      throw base::Error(base::Fault::usage, fmt::format("{} comes without its task; --tasks FOLDER names the tasks", answer.origin));
    base::write_file(folder / fmt::format("level{}", answer.level) / fmt::format("{}_published.py", answer.id), answer.task);
  }
  return folder;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > most ? " …" : "");
}

Matched match(std::vector<PublishedAnswer> answers, const std::vector<std::string>& folders, const Selection& selection) {
  const auto all = find_tasks(folders, Selection{}), wanted = find_tasks(folders, selection);
  std::map<std::string, const SweepTask*> by_key;
  std::map<std::pair<int, int>, const SweepTask*> by_number;
  for (const SweepTask& task : all) {
    by_key[task.key] = &task;
    if (task.id > 0) by_number[{task.level, task.id}] = &task;
  }
  Matched result;
  std::vector<std::string> without_task, other_text;
  std::map<std::string, int> answered;
  for (PublishedAnswer& answer : answers) {
    const auto named = by_key.find(answer.path);
    const auto numbered = by_number.find({answer.level, answer.id});
    const SweepTask* task = named != by_key.end() ? named->second : numbered != by_number.end() ? numbered->second : nullptr;
    if (task == nullptr) {
      without_task.push_back(answer.level > 0 ? fmt::format("level{}/{}", answer.level, answer.id) : answer.origin);
      continue;
    }
    const std::string task_key = task->key;
    const int number = answered[task_key]++;
    if (std::none_of(wanted.begin(), wanted.end(), [&](const SweepTask& each) { return each.key == task_key; })) continue;
    if (!answer.task.empty() && without_blanks(answer.task) != without_blanks(base::read_file(task->file))) other_text.push_back(task_key);
    SweepTask mine = *task;
    if (number > 0) mine.key += fmt::format(" sample {}", answer.sample > 0 ? answer.sample : number);
    result.tasks.push_back(mine);
    result.answers[mine.key] = std::move(answer);
  }
  if (result.tasks.empty())
    throw base::Error(base::Fault::bad_input, fmt::format("none of these {} answers is to a task of {}", answers.size(), fmt::join(folders, ", ")));
  put_in_order(result.tasks, selection);
  const auto count = [](std::size_t n, const char* one, const char* more) { return fmt::format("{} {}", n, n == 1 ? one : more); };
  std::vector<std::string> unanswered;
  for (const SweepTask& task : wanted)
    if (!answered.contains(task.key)) unanswered.push_back(task.key);
  if (!unanswered.empty()) result.remarks.push_back(fmt::format("{} no answer there: {}.", count(unanswered.size(), "task has", "tasks have"), listed(unanswered)));
  if (!without_task.empty())
    result.remarks.push_back(fmt::format("{} no task in {}: {}.", count(without_task.size(), "answer has", "answers have"), fmt::join(folders, ", "), listed(without_task)));
  if (!other_text.empty())
    result.remarks.push_back(fmt::format("{} published for another text of the task, perhaps other sizes: {}.",
                                         count(other_text.size(), "answer was", "answers were"), listed(other_text)));
  return result;
}

void describe(const outcome::Judgement& judgement, const std::string& source, bool on_cpu, SweepRow& row) {
  row.answers = 1;
  row.verdict = outcome::name(judgement.verdict, judgement.predicted);
  row.message = judgement.message;
  row.kernelbench_tolerance = judgement.errors.kernelbench_tolerance;
  for (const auto label : judgement.labels) row.labels.emplace_back(outcome::name(label));
  for (const auto& [step, seconds] : judgement.step_seconds) row.breakdown["answer: " + step] = seconds;
  if (!outcome::is_right(judgement.verdict)) {
    row.status = SweepRow::Status::nothing_right;
    const bool for_a_gpu = source.find("cuda") != std::string::npos || source.find("triton") != std::string::npos;
    if (!on_cpu || judgement.verdict != outcome::Verdict::runtime_failed || !for_a_gpu) return;
    row.status = SweepRow::Status::failed;   // tried again where there is a GPU
    row.verdict.clear();
    row.message = "it needs a GPU: " + row.message;
    return;
  }
  row.status = SweepRow::Status::verified;
  row.right = 1;
  // What is said beside a right answer follows the verdict.
  for (std::size_t at = row.message.find("; "); at != std::string::npos;) {
    const std::size_t end = row.message.find("; ", at + 2);
    row.remarks.push_back(row.message.substr(at + 2, end == std::string::npos ? end : end - at - 2));
    at = end;
  }
  for (const auto& baseline : judgement.baselines)
    if (baseline.speedup) row.ratios[baseline.name] = {baseline.speedup->value, baseline.speedup->low, baseline.speedup->high, ""};
    else row.ratios[baseline.name].failed = baseline.failed;
  if (judgement.workloads.empty()) return;
  row.time_ms = judgement.workloads.front().variant_ms;
  row.share_of_limit = judgement.workloads.front().share_of_limit;
}

class AnswerJudge {
 public:
  AnswerJudge(const Matched& matched, const JudgedVariantsOptions& judged, double time_limit, std::filesystem::path folder, GpuShares& shares, std::stop_token stop)
      : matched_(matched), judged_(judged), time_limit_(time_limit), folder_(std::move(folder)), shares_(shares),
        stop_(std::move(stop)) {}

  std::string digest(const SweepTask& task) const {
    return base::sha256(digest_of(task, judged_.task.set) + matched_.answers.at(task.key).source.value_or(""));
  }

  TaskEnd judge(const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, SweepRow& row) const {
    const PublishedAnswer& answer = matched_.answers.at(task.key);
    const bool on_cpu = choice.device == "sim";
    row.answer = answer.origin;
    row.claimed = answer.claimed;
    if (on_cpu) row.device = "CPU";
    if (!answer.source) {
      row.status = SweepRow::Status::no_answer;
      row.message = "it was published without code";
      return {};
    }
    TaskOptions asked = judged_.task;
    asked.task = task.file.string();
    asked.set = settings_of(task, asked.set);
    asked.time_limit = time_limit_;
    asked.stop = stop_;
    asked.unlimited = true;   // no simulator has to run it
    const base::Seconds began = base::now();
    const std::string name = digest_of(task, judged_.task.set);
    if (!lane.kept || lane.kept_name != name) {
      if (lane.kept) give_back(*lane.kept, choice, lane.host);
      lane.kept.reset();
      lane.kept = open_shared(asked, choice, shares_, std::move(lane.host));
      lane.kept_name = name;
      row.breakdown = {{"PyTorch start", lane.kept->open.start_seconds},
                       {"load", (base::now() - began).count() - lane.kept->open.start_seconds - lane.kept->gate_seconds},
                       {"task gate", lane.kept->gate_seconds}};
    }
    const SharedTask& shared = *lane.kept;
    const OpenTask& open = shared.open;
    row.task = open.task.name();
    for (const auto& [kind, finding] : open.defects)
      (finding.verdict == outcome::TaskVerdict::collapsible ? row.labels : row.defects).push_back(kind);
    if (shared.refusal) {
      row.status = SweepRow::Status::refused;
      row.message = *shared.refusal;
      return {};
    }
    const std::filesystem::path file = folder_ / "answers" / (task.folder() + (task.folder().ends_with(".py") ? "" : ".py"));
    base::write_file(file, *answer.source);
    judge::AnswerOptions how = answer_options(judged_.workbench, asked.set, open, choice);
    how.untimed = judged_.untimed;
    const auto judgement = judge::judge_answer(*open.pytorch, open.task, file, how);
    if (stop_.stop_requested()) return {TaskEnd::Kind::stopped, "it was interrupted"};   // what ended PyTorch is no verdict
    describe(judgement, *answer.source, on_cpu, row);
    return {};
  }

 private:
  const Matched& matched_;
  const JudgedVariantsOptions& judged_;
  const double time_limit_;
  const std::filesystem::path folder_;
  GpuShares& shares_;
  const std::stop_token stop_;
};

}  // namespace

void add_answer_sweep_options(Arguments app, AnswerSweepOptions& options) {
  const char* group = "Published answers in bulk";
  app.add_option("--answers", options.answers, "Judge published answers in bulk: CUDA-L1's released JSON, KernelBench's runs, or a folder of files with ModelNew")
      ->option_text("FILE|DIR")
      ->group(group);
  app.add_option("--tasks", options.tasks, "The folder of tasks that the answers belong to [default: the tasks in the release]")
      ->option_text("DIR")
      ->one_value()
      ->group(group);
  app.add_option("--out", options.output.folder, "The folder for rows and summary [default: cudal1-answers]")->option_text("DIR")->group(group);
  app.add_option("--format", options.output.format, "The format of the summary that is printed")
      ->option_text("terminal|markdown|json|csv|svg")
      ->check(Check::one_of(report::sweep_formats()))
      ->group(group);
  add_batch_options(app, options.batch, group);
}

ExitCode sweep_answers(const AnswerSweepOptions& options, const JudgedVariantsOptions& judged, const Console& console) {
  const std::filesystem::path place = std::filesystem::path(options.answers).lexically_normal();
  auto answers = read_answers(place);
  SweepRun sweep;
  sweep.default_folder = "cudal1-answers";
  sweep.noun = "published answer";
  sweep.cpu = true;
  std::vector<std::string> folders = options.tasks;
  if (folders.empty()) {
    const std::filesystem::path folder = options.output.folder.empty() ? sweep.default_folder : options.output.folder;
    folders.push_back(write_tasks(answers, folder / "published-tasks").string());
  }
  const Matched matched = match(std::move(answers), folders, options.batch.selection);
  say_settings(judged.task.set, matched.tasks, console);
  sweep.tasks = matched.tasks;
  sweep.models = fmt::format("published answers of {}", (place.has_filename() ? place : place.parent_path()).filename().string());
  sweep.options = fmt::format("set {}; precision {}; baselines {}; final pairs {}; confined {}", fmt::join(judged.task.set, ","), judged.workbench.precision,
                              fmt::join(judged.workbench.baselines, ","), judged.workbench.final_pairs, !judged.workbench.no_sandbox);
  if (judged.untimed) sweep.options += "; untimed";
  sweep.remarks = matched.remarks;
  std::unique_ptr<AnswerJudge> judge;
  sweep.work = [&](const std::filesystem::path& folder, GpuShares& shares, const std::stop_token& stop) {
    judge = std::make_unique<AnswerJudge>(matched, judged, options.batch.time_limit, folder, shares, stop);
    return SweepWork{[&](const SweepTask& task) { return judge->digest(task); },
                     [&](const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, SweepRow& row) {
                       return judge->judge(task, choice, lane, row);
                     }};
  };
  return run_sweep(sweep, options.batch, judged.device, judged.workbench, options.output, console);
}

}  // namespace cudal1::cli
