// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "sweep_export.hpp"
#include "sweep_run.hpp"
#include "sweep_search.hpp"

#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

struct Options {
  SweepSearch search;
  BatchOptions batch;
  std::vector<std::string> roots;
  SweepOutput output;
  bool merge = false;
};

ExitCode merge_folders(const Options& options, const Console& console) {
  const auto sweep = merge({options.roots.begin(), options.roots.end()});
  if (!options.output.folder.empty()) write_summaries(options.output.folder, sweep);
  console.result(report::render(sweep, options.output.as_json ? "json" : options.output.format));
  return ExitCode::success;
}

ExitCode run(const Options& options, const Console& console) {
  if (options.merge) return merge_folders(options, console);
  SweepSearch search = options.search;
  search.time_limit = options.batch.time_limit;
  Selection selection = options.batch.selection;
  selection.seed = search.run.workbench.seed;
  auto tasks = find_tasks(options.roots, selection);
  say_settings(search.run.task.set, tasks, console);
  SweepRun sweep;
  sweep.tasks = std::move(tasks);
  sweep.models = fmt::format("{}", fmt::join(search.run.model.models, ", "));
  sweep.options = options_text(search);
  sweep.default_folder = "cudal1-sweep";
  sweep.noun = "task";
  sweep.work = [&](const std::filesystem::path& folder, GpuShares& shares, const std::stop_token& stop) {
    search.folder = folder;
    return searching(search, console, shares, stop);
  };
  sweep.finish = [&](const std::filesystem::path& folder, const report::Sweep& rows) {
    for (const auto& form : search.exports) finish_export({folder, form}, rows);
  };
  return run_sweep(sweep, options.batch, search.run.device, search.run.workbench, options.output, console);
}

}  // namespace

void add_sweep(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Arguments app = line.add("sweep", "Optimize many tasks: a KernelBench folder, or a folder of kernel files", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("TASKS", options->roots, "Folders or files of tasks; with --merge, folders or journals of sweeps")->required();
  app.add_option("--out", options->output.folder, "The sweep's folder [default: cudal1-sweep]")->option_text("DIR");
  app.add_flag("--merge", options->merge, "Write one summary of the sweeps in these folders; shards are joined, different sweeps kept apart");
  app.add_flag("--json", options->output.as_json, "Print one JSON object instead of the summary");
  app.add_flag("--force", options->search.force, "Go on with runs of this sweep although driver, version or prompts differ");
  app.add_option("--format", options->output.format, "The format of the summary that is printed")
      ->option_text("terminal|markdown|json|csv|svg")
      ->check(Check::one_of(report::sweep_formats()));
  app.add_option("--export", options->search.exports, "Write the verified answers for KernelBench's scripts, for PyTorch, or for nvcc")
      ->option_text("kernelbench|torch|host")
      ->one_value()
      ->check(Check::one_of({"kernelbench", "torch", "host"}));
  app.add_option("--confirmations", options->search.run.search.confirmations, "The most variants of a task that get a final verdict; 0: none does")
      ->option_text("N")
      ->check(Check::between(0, 1000));
  const char* tasks = "Tasks";
  add_batch_options(app, options->batch, tasks);
  app.add_option("--cost-limit", options->search.cost_limit, "The most dollars for the replies to one task")
      ->option_text("DOLLARS")
      ->default_str("")
      ->check(Check::positive())
      ->group(tasks);
  add_task_settings(app, options->search.run.task);
  add_model_options(app, options->search.run.model);
  add_device_options(app, options->search.run.device);
  add_search_options(app, options->search.run);
}

}  // namespace cudal1::cli
