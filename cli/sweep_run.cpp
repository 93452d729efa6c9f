// SPDX-License-Identifier: Apache-2.0
#include "sweep_run.hpp"

#include "interruption.hpp"

#include "base/file.hpp"
#include "report/sweep.hpp"

#include <cstdlib>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// Summarises what is finished and says how it ended.
ExitCode conclude(const SweepRun& run, const SweepCrew::Result& result, const std::filesystem::path& folder, const Shard& shard, int signal,
                  const SweepOutput& output, const Console& console) {
  auto sweep = merge({folder}, shard);
  sweep.remarks.insert(sweep.remarks.end(), run.remarks.begin(), run.remarks.end());
  write_summaries(folder, sweep);
  if (run.finish) run.finish(folder, sweep);
  if (result.fatal && !result.abandoned) std::rethrow_exception(result.fatal);
  console.result(report::render(sweep, output.as_json ? "json" : output.format));
  if (signal != 0) {
    console.warn("interrupted; the same command goes on");
    return static_cast<ExitCode>(128 + signal);
  }
  if (!result.unfinished.empty()) {
    const std::string waiting = result.waiting < 2 ? "" : fmt::format("{} tasks wait for replies; the last of them: ", result.waiting);
    console.warn(fmt::format("{}{}\nthe same command goes on", waiting, result.unfinished));
    return ExitCode::resumable;
  }
  return result.failed ? ExitCode::failed_items : ExitCode::success;
}

}  // namespace

ExitCode run_sweep(const SweepRun& run, const BatchOptions& batch, const DeviceOptions& device, const WorkbenchOptions& workbench,
                   const SweepOutput& output, const Console& console) {
  const Shard shard = parse_shard(batch.shard, [](const char* name) { return std::getenv(name); });
  if (!batch.shard.empty()) console.note(fmt::format("shard {}/{} ({})", shard.index, shard.count, shard.source));
  const auto choices = choose_devices(device, batch.jobs);
  const bool on_cpu = run.cpu && choices.front().device == "sim";
  if (on_cpu) console.note("on the CPU: what is right or wrong, and no times");
  std::string said;
  for (const auto& choice : choices) {
    if (!on_cpu && choice.statement != said) say_device(choice, workbench, console);
    said = choice.statement;   // once where several share it
  }

  auto tasks = run.tasks;
  SweepIdentity identity{on_cpu ? "CPU" : choices.front().identity(), run.models, run.options, shard.index, shard.count, {}};
  for (const auto& task : tasks) identity.tasks.push_back(task.key);
  std::erase_if(tasks, [&](const SweepTask& task) { return !shard.owns(task.key); });
  std::filesystem::path folder = output.folder.empty() ? run.default_folder : output.folder;
  if (shard.count > 1) folder /= fmt::format("shard-{}-of-{}", shard.index, shard.count);
  SweepJournal journal(folder, identity);
  console.note(fmt::format("{} {}{} in {}", tasks.size(), run.noun, tasks.size() == 1 ? "" : "s", folder.string()));

  const std::string promise = fmt::format("stopping within {:.0f} s; the same command does again what is unfinished then", sweep_grace.count());
  Interruption interruption(console, promise);
  GpuShares shares;
  SweepCrew crew(run.work(folder, shares, interruption.token()), console, std::move(tasks), journal, choices, base::Seconds(batch.begin_within), interruption.token());
  const SweepCrew::Result result = crew.run();
  if (!result.abandoned) return conclude(run, result, folder, shard, interruption.signal(), output, console);
  int code = 128 + interruption.signal();
  try {
    conclude(run, result, folder, shard, interruption.signal(), output, console);
  } catch (const std::exception& error) {
    console.warn(error.what());
    code = static_cast<int>(ExitCode::internal);
  }
  end_now(code);
}

void write_summaries(const std::filesystem::path& folder, const report::Sweep& sweep) {
  for (const auto& [format, file] : {std::pair{"markdown", "summary.md"}, {"json", "summary.json"}, {"csv", "summary.csv"}, {"svg", "summary.svg"}})
    base::write_file(folder / file, report::render(sweep, format));
}

}  // namespace cudal1::cli
