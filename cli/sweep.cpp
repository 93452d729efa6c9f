// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "interruption.hpp"
#include "run_options.hpp"
#include "shard.hpp"
#include "sweep_export.hpp"
#include "sweep_journal.hpp"
#include "sweep_tasks.hpp"

#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "report/sweep.hpp"
#include "search/search.hpp"
#include "store/run.hpp"
#include "store/run_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

using report::SweepRow;

struct Options {
  RunOptions run;
  std::vector<std::string> roots;
  Selection selection;
  std::string folder, shard, format = "terminal";
  double time_limit = 0, cost_limit = 0;   // of one task
  std::vector<std::string> exports;
  int jobs = 1;
  bool merge = false, as_json = false;
};

// How often and how long is looked, where that is not as usual.
std::string judging_text(const WorkbenchOptions& options) {
  const WorkbenchOptions usual;
  return (options.trials == usual.trials ? "" : fmt::format("; trials {}", options.trials)) +
         (options.final_pairs == usual.final_pairs ? "" : fmt::format("; final pairs {}", options.final_pairs));
}

// Everything that changes a task's result, but for the task itself.
std::string options_text(const Options& options) {
  const auto& search = options.run.search;
  return fmt::format("rounds {}; samples {}; seed {}; exemplars {}; sampling {}; tau {}; repair {}; ablate {}; hint {}; set {}; precision {}; baselines {}; start from {}; "
                     "prompts {}; time limit {}; cost limit {}{}",
                     search.rounds, search.samples, options.run.workbench.seed, search.exemplars, options.run.sampling, search.tau,
                     !options.run.no_repair, search.ablate, search.hint, fmt::join(options.run.task.set, ","), options.run.workbench.precision,
                     fmt::join(options.run.workbench.baselines, ","), options.run.start_from, options.run.prompts, options.time_limit, options.cost_limit,
                     judging_text(options.run.workbench));
}

// The replies of an earlier sweep are kept by task. False: it had none for this one.
bool take_replies_of(const SweepTask& task, std::vector<std::string>& models) {
  constexpr std::string_view replay = "replay:";
  bool any = false;
  for (auto& model : models) {
    const auto tasks = std::filesystem::path(model.substr(std::min(model.size(), replay.size()))) / "tasks";
    const bool of_a_sweep = model.starts_with(replay) && std::filesystem::is_directory(tasks);
    if (of_a_sweep) model = fmt::format("{}{}", replay, (tasks / task.folder()).string());
    any = any || !of_a_sweep || std::filesystem::is_directory(tasks / task.folder() / "replies");
  }
  return any;
}

// Identifies a task's text before anything is started for it.
std::string digest_of(const SweepTask& task, const Options& options) {
  std::string text = base::read_file(task.file);
  for (const auto& set : settings_of(task, options.run.task.set)) text += "\n--set " + set;
  return base::sha256(text);
}

// One sweep as it runs: its tasks, taken by as many threads as there are jobs.
class Sweeper {
 public:
  Sweeper(const Options& options, const Console& console, std::filesystem::path folder, std::vector<SweepTask> tasks, SweepJournal& journal,
          const std::vector<DeviceChoice>& choices, const std::stop_token& stop)
      : options_(options), console_(console), folder_(std::move(folder)), tasks_(std::move(tasks)), journal_(journal), choices_(choices),
        stop_(stop), began_(base::now()) {}

  struct Result {
    bool failed = false;        // a task could not be read or run
    std::exception_ptr fatal;   // what no task can help
    std::string unfinished;     // why a task stopped before its end; empty: none did
  };

  Result run() {
    std::vector<std::jthread> threads;
    for (std::size_t job = 1; job < choices_.size(); ++job) threads.emplace_back([this, job] { work(choices_[job]); });
    work(choices_.front());
    threads.clear();
    return result_;
  }

 private:
  void work(const DeviceChoice& choice) {
    std::unique_ptr<pytorch::Host> host;   // warm from task to task
    while (const auto next = take()) {
      const SweepTask& task = tasks_[*next];
      const base::Seconds began = base::now();
      SweepRow row;
      row.key = task.key;
      row.level = task.level;
      row.id = task.id;
      row.device = choice.identity();
      try {
        row.digest = digest_of(task, options_);
        if (const auto known = journal_.finished(task.key, row.digest)) {
          finish(*known, true);
          continue;
        }
        switch (sweep_one(task, choice, host, row)) {
          case End::finished: break;
          case End::waiting: continue;
          case End::stopped: return;
        }
      } catch (const base::Error& error) {
        if (stop_.stop_requested()) return;   // the signal that ends the sweep ends PyTorch's process too
        row.message = error.what();
        // What no task can help ends the sweep; the same command goes on.
        if (error.fault() == base::Fault::no_device || error.fault() == base::Fault::credentials) {
          const std::lock_guard lock(mutex_);
          if (!result_.fatal) result_.fatal = std::current_exception();
          return;
        }
      } catch (const std::exception& error) {
        if (stop_.stop_requested()) return;
        row.message = error.what();
        host.reset();
      }
      row.seconds = (base::now() - began).count();
      finish(row, false);
    }
  }

  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    if (stop_.stop_requested() || result_.fatal || next_ == tasks_.size()) return std::nullopt;
    return next_++;
  }

  enum class End { finished, waiting, stopped };   // waiting: for replies; stopped: by the user, or there are no more replies

  End sweep_one(const SweepTask& task, const DeviceChoice& choice, std::unique_ptr<pytorch::Host>& host, SweepRow& row) {
    RunOptions run = options_.run;
    run.task.task = task.file.string();
    run.task.time_limit = options_.time_limit;
    run.task.set = settings_of(task, run.task.set);
    run.workbench.accept_degenerate = true;   // judged without earning a speed-up, and no sound task
    const base::Seconds began = base::now();
    OpenTask open = open_task(run.task, choice, std::move(host));
    const base::Seconds opened = base::now();
    Console quiet = console_;
    quiet.options.quiet = true;
    const auto refusal = examine(open, quiet);
    for (const auto& [kind, finding] : open.defects)
      (finding.verdict == outcome::TaskVerdict::collapsible ? row.labels : row.defects).push_back(kind);
    row.task = open.task.name();
    row.breakdown = {{"PyTorch start", open.start_seconds}, {"load", (opened - began).count() - open.start_seconds},
                     {"task gate", (base::now() - opened).count()}};
    if (refusal) {
      host = std::move(open.pytorch);
      row.status = SweepRow::Status::refused;
      row.message = *refusal;
      return End::finished;
    }
    if (!take_replies_of(task, run.model.models)) {
      host = std::move(open.pytorch);
      row.status = SweepRow::Status::nothing_right;
      row.message = "the earlier sweep had no reply for it";
      return End::finished;
    }
    const search::Options search = search_options_of(run);
    const auto templates = prompt_templates(run);
    const auto place = folder_ / "tasks" / task.folder();
    const base::Seconds judged = base::now();
    {
      const auto models = models_to_ask(run, open.task, search, console_);
      std::vector<model::Model*> asked;
      for (const auto& model : models) asked.push_back(model.get());
      store::RunFolder folder(place, open.task, identity_of(run, open.task, search, choice, templates));
      Workbench workbench(open, choice, run.workbench);
      search::JudgeReferee referee(workbench.judges());
      search::Observers observers({&folder});
      search::run(open.task, referee, asked, templates, search, observers, folder, stop_);
    }
    const double searched = (base::now() - judged).count();
    const auto result = store::load(place);
    const auto& reference = result.result.start.reference.judgement.step_seconds;
    row.breakdown["search and judging"] = searched;
    for (const char* step : {"oracle", "baselines"}) {
      const auto took = reference.find(step);
      row.breakdown[step] = took == reference.end() ? 0 : took->second;
      row.breakdown["search and judging"] -= row.breakdown[step];
    }
    if (search::resumable(result.result.stopped_because)) {
      host = std::move(open.pytorch);
      const std::lock_guard lock(mutex_);
      result_.unfinished = result.result.reason;
      return result.result.stopped_because == search::Stop::pending ? End::waiting : End::stopped;
    }
    describe(result, row);
    const base::Seconds exported = base::now();
    for (const auto& form : options_.exports) try {
        if (row.status == SweepRow::Status::verified) export_answer({folder_, form}, task, open, result.best_file);
      } catch (const base::Error& error) {   // the answer stays right
        row.message += fmt::format("; not exported ({}): {}", form, error.what());
      }
    if (!options_.exports.empty()) row.breakdown["export"] = (base::now() - exported).count();
    host = std::move(open.pytorch);
    return End::finished;
  }

  search::Options search_options_of(const RunOptions& run) const {
    search::Options search = search_options(run);
    if (options_.time_limit > 0) search.wall_limit = base::Seconds(options_.time_limit);
    if (options_.cost_limit > 0) search.cost_limit = options_.cost_limit;
    return search;
  }

  static void describe(const store::Run& run, SweepRow& row) {
    const bool examined = row.key.ends_with(".py");   // by its own gate, which names kinds
    for (const auto& finding : run.result.start.reference.findings)
      if (!examined && outcome::unsound(finding.verdict)) row.defects = {std::string(outcome::name(finding.verdict))};
    for (const auto& variant : run.result.variants) {
      row.answers += 1;
      row.right += variant.right() ? 1 : 0;
    }
    row.cost = run.result.usage.cost;
    const auto* best = run.result.best();
    if (best == nullptr || !outcome::is_right(best->verdict().verdict)) {
      row.status = SweepRow::Status::nothing_right;
      row.message = row.answers == 0 ? run.result.reason : "no answer is right";
      return;
    }
    const outcome::Judgement& judgement = best->verdict();
    row.status = SweepRow::Status::verified;
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

  void finish(const SweepRow& row, bool known) {
    const std::lock_guard lock(mutex_);
    if (!known) journal_.append(row);
    ++done_;
    if (!known) ++fresh_;
    cost_ += row.cost;
    result_.failed = result_.failed || row.status == SweepRow::Status::failed;
    if (known) return;
    const double elapsed = (base::now() - began_).count();
    const double left = elapsed / fresh_ * static_cast<double>(tasks_.size() - static_cast<std::size_t>(done_));
    std::vector<std::string> ratios;
    for (const auto& [baseline, ratio] : row.ratios)
      if (ratio.failed.empty()) ratios.push_back(fmt::format("{:.2f}x {}", ratio.value, baseline));
    console_.note(fmt::format("[{}/{}] {}: {} {}({:.1f} s; about {:.0f} s left; ${:.2f})", done_, tasks_.size(), row.key,
                              row.verdict.empty() ? fmt::format("{}: {}", report::name(row.status), row.message) : row.verdict,
                              ratios.empty() ? "" : fmt::format("{} ", fmt::join(ratios, ", ")), row.seconds, left, cost_));
  }

  const Options& options_;
  const Console& console_;
  std::filesystem::path folder_;
  std::vector<SweepTask> tasks_;
  SweepJournal& journal_;
  const std::vector<DeviceChoice>& choices_;   // one for each task at a time
  const std::stop_token stop_;
  base::Seconds began_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  int done_ = 0, fresh_ = 0;
  double cost_ = 0;
  Result result_;
};

void write_summaries(const std::filesystem::path& folder, const report::Sweep& sweep) {
  for (const auto& [format, file] : {std::pair{"markdown", "summary.md"}, {"json", "summary.json"}, {"csv", "summary.csv"}, {"svg", "summary.svg"}})
    base::write_file(folder / file, report::render(sweep, format));
}

ExitCode merge_folders(const Options& options, const Console& console) {
  const auto sweep = merge({options.roots.begin(), options.roots.end()});
  if (!options.folder.empty()) write_summaries(options.folder, sweep);
  console.result(report::render(sweep, options.as_json ? "json" : options.format));
  return ExitCode::success;
}

ExitCode run(const Options& options, const Console& console) {
  if (options.merge) return merge_folders(options, console);
  const Shard shard = parse_shard(options.shard, [](const char* name) { return std::getenv(name); });
  if (!options.shard.empty()) console.note(fmt::format("shard {}/{} ({})", shard.index, shard.count, shard.source));
  Selection selection = options.selection;
  selection.seed = options.run.workbench.seed;
  auto tasks = find_tasks(options.roots, selection);
  say_settings(options.run.task.set, tasks, console);
  const auto choices = choose_devices(options.run.device, options.jobs);
  for (const auto& choice : choices) {
    say_device(choice, options.run.workbench, console);
    if (choice.device == "sim") break;   // one for all
  }

  SweepIdentity identity{choices.front().identity(), fmt::format("{}", fmt::join(options.run.model.models, ", ")), options_text(options), shard.index,
                         shard.count, {}};
  for (const auto& task : tasks) identity.tasks.push_back(task.key);
  std::erase_if(tasks, [&](const SweepTask& task) { return !shard.owns(task.key); });
  std::filesystem::path folder = options.folder.empty() ? std::filesystem::path("cudal1-sweep") : std::filesystem::path(options.folder);
  if (shard.count > 1) folder /= fmt::format("shard-{}-of-{}", shard.index, shard.count);
  SweepJournal journal(folder, identity);
  console.note(fmt::format("{} task{} in {}", tasks.size(), tasks.size() == 1 ? "" : "s", folder.string()));

  Interruption interruption;
  Sweeper sweeper(options, console, folder, std::move(tasks), journal, choices, interruption.token());
  const Sweeper::Result result = sweeper.run();
  const auto sweep = merge({folder}, shard);
  write_summaries(folder, sweep);
  for (const auto& form : options.exports) finish_export({folder, form}, sweep);
  if (result.fatal) std::rethrow_exception(result.fatal);
  console.result(report::render(sweep, options.as_json ? "json" : options.format));
  if (interruption.signal() != 0) {
    console.warn("interrupted; the same command goes on");
    return static_cast<ExitCode>(128 + interruption.signal());
  }
  if (!result.unfinished.empty()) {
    console.warn(fmt::format("{}\nthe same command goes on", result.unfinished));
    return ExitCode::resumable;
  }
  return result.failed ? ExitCode::failed_items : ExitCode::success;
}

}  // namespace

void add_sweep(CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App& app = line.add("sweep", "Many tasks: a KernelBench folder, or a folder of kernel files", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("TASKS", options->roots, "Folders or files of tasks; with --merge, folders of finished shards")->required();
  app.add_option("--out", options->folder, "The sweep's folder [default: cudal1-sweep]")->option_text("DIR");
  app.add_flag("--merge", options->merge, "Join the shards in these folders into one summary");
  app.add_flag("--json", options->as_json, "Print one JSON object instead of the summary");
  app.add_option("--format", options->format, "Of the summary that is printed")
      ->option_text("terminal|markdown|json|csv|svg")
      ->check(CLI::IsMember(report::sweep_formats()));
  app.add_option("--export", options->exports, "Write the verified answers for KernelBench's scripts, for PyTorch, or for nvcc")
      ->option_text("kernelbench|torch|host")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"kernelbench", "torch", "host"}));
  const char* tasks = "Tasks";
  app.add_option("--level", options->selection.levels, "Only these levels, such as 1,3")->option_text("N")->allow_extra_args(false)->group(tasks);
  app.add_option("--id", options->selection.ids, "Only tasks with these numbers, such as 1,3-5")
      ->option_text("N")
      ->allow_extra_args(false)
      ->group(tasks);
  app.add_option("--match", options->selection.globs, "Only tasks whose path fits, such as 'level1/*Conv*'")
      ->option_text("GLOB")
      ->allow_extra_args(false)
      ->group(tasks);
  app.add_option("--order", options->selection.order, "The order of the tasks")
      ->option_text("id|name|random")
      ->check(CLI::IsMember({"id", "name", "random"}))
      ->group(tasks);
  app.add_option("--shard", options->shard, "Only one part of the tasks; auto reads Slurm's and Kubernetes' variables")
      ->option_text("I/N|auto")
      ->group(tasks);
  app.add_option("--jobs", options->jobs, "Tasks at a time, each on a GPU of its own")->option_text("N")->check(CLI::Range(1, 64))->group(tasks);
  app.add_option("--time-limit", options->time_limit, "Most seconds for one task")
      ->option_text("SECONDS")
      ->default_str("")
      ->check(CLI::PositiveNumber)
      ->group(tasks);
  app.add_option("--cost-limit", options->cost_limit, "Most dollars for the replies of one task")
      ->option_text("DOLLARS")
      ->default_str("")
      ->check(CLI::PositiveNumber)
      ->group(tasks);
  add_task_settings(app, options->run.task);
  add_model_options(app, options->run.model);
  add_device_options(app, options->run.device);
  add_search_options(app, options->run);
}

}  // namespace cudal1::cli
