// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "resume_command.hpp"

#include "base/error.hpp"
#include "outcome/judgement.hpp"
#include "store/run.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct Options {
  std::string folder = ".";
  bool as_json = false;
};

std::string state(const store::Summary& run) {
  if (run.running) return "running";
  return run.stopped_because.empty() ? "killed" : run.stopped_because;
}

// "finished (rounds)", "stopped (interrupted)", "running", "killed"
std::string state_text(const store::Summary& run) {
  const auto stop = search::parse_stop(state(run));
  if (!stop) return state(run);
  return fmt::format("{} ({})", goes_on(*stop) ? "stopped" : "finished", run.stopped_because);
}

bool has_more_to_do(const store::Summary& run) {
  const auto stop = search::parse_stop(state(run));
  return stop ? goes_on(*stop) : !run.running;
}

// A run that was killed had no time to say how far it came; its journal knows.
void catch_up(store::Summary& run) {
  if (run.running || !run.stopped_because.empty()) return;
  const auto whole = store::load(run.folder);
  run.rounds = static_cast<int>(whole.result.rounds.size());
  run.judged = whole.result.judged();
  const auto* best = whole.result.best();
  run.verdict = best ? outcome::name(best->verdict().verdict, best->verdict().predicted) : "";
  run.score = best ? best->score() : 0;
}

json summary_json(const store::Summary& run) {
  return {{"run", run.folder.string()}, {"task", run.task},     {"device", run.device},   {"models", run.models},
          {"begun", run.begun},         {"rounds", run.rounds}, {"judged", run.judged},   {"state", state(run)},
          {"verdict", run.verdict},     {"score", run.score},   {"resume", resume_command(store::load(run.folder))}};
}

std::string summary_text(const store::Summary& run) {
  const std::string best = run.verdict.empty() ? "nothing right yet" : fmt::format("{} {:.3g}x", run.verdict, run.score);
  std::string text =
      fmt::format("{}\n  {} on {} by {}, begun {}\n  {}; {} round{}, {} judged; best: {}\n", run.folder.string(), run.task,
                  run.device, fmt::join(run.models, ", "), run.begun, state_text(run), run.rounds, run.rounds == 1 ? "" : "s", run.judged, best);
  if (has_more_to_do(run))
    text += fmt::format("  go on with: {}\n", resume_command(store::load(run.folder)));
  return text;
}

ExitCode run(const Options& options, const Console& console) {
  if (!std::filesystem::exists(options.folder)) throw base::Error(base::Fault::missing, fmt::format("there is no run or folder {}; `cudal1 runs` lists the runs under this one", options.folder));
  auto runs = store::list(options.folder);
  for (auto& run : runs) catch_up(run);
  std::string text;
  json list = json::array();
  for (const auto& run : runs) {
    if (options.as_json) list.push_back(summary_json(run));
    else text += summary_text(run);
  }
  if (runs.empty()) console.note(fmt::format("no runs under {}", options.folder));
  console.result(options.as_json ? json{{"schema", 1}, {"runs", list}}.dump(2) + "\n" : text);
  return ExitCode::success;
}

}  // namespace

void add_runs(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Arguments app = line.add("runs", "List runs, with the command that resumes each", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("DIR", options->folder, "Where to look: DIR/cudal1-runs, DIR itself, or one run");
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
