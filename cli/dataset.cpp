// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "output_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "dataset/rows.hpp"
#include "store/summary.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;

struct DatasetOptions {
  std::vector<std::string> runs;
  std::string purpose = "sft", engine = "trl", style = "full", output;
  dataset::Options rows;
  int most = 4, longest = 0;
};

// The runs of folders: a run, a folder of runs, or a sweep.
std::vector<store::Run> load_runs(const std::vector<std::string>& folders) {
  std::vector<store::Run> runs;
  for (const std::string& folder : folders) {
    auto found = store::list(folder);
    if (found.empty()) found = store::list(fs::path(folder) / "tasks");
    if (found.empty()) throw base::Error(base::Fault::missing, fmt::format("{}: this folder holds no run and no sweep", folder));
    // Newest first, as `runs` shows them; a file of training data has its beginning first.
    for (auto summary = found.rbegin(); summary != found.rend(); ++summary) runs.push_back(store::load(summary->folder));
  }
  return runs;
}

std::string no_measure_text(std::size_t runs) {
  return runs == 0 ? "" : fmt::format("; {} left out because their task is no measure (TASK_DEGENERATE, TASK_UNSTABLE or TASK_BROKEN)", runs);
}

ExitCode write_harbor(const DatasetOptions& options, const std::vector<store::Run>& runs, const Console& console) {
  if (options.output.empty()) throw base::Error(base::Fault::usage, "--for harbor writes a folder for each task: name one with -o");
  std::size_t written = 0;
  for (const store::Run& run : runs) {
    if (!dataset::is_measure(run)) continue;
    ++written;
    for (const auto& [path, text] : dataset::harbor_task(run, {})) {
      const fs::path file = fs::path(options.output) / run.identity.task_name / path;
      base::write_file(file, text);
      if (file.extension() == ".sh") fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
    }
  }
  console.note(fmt::format("{} tasks in {}{}", written, options.output, no_measure_text(runs.size() - written)));
  return ExitCode::success;
}

ExitCode run_dataset(const DatasetOptions& options, const Console& console) {
  const auto runs = load_runs(options.runs);
  if (options.purpose == "harbor") return write_harbor(options, runs, console);
  dataset::Options rows = options.rows;
  rows.purpose = dataset::parse_purpose(options.purpose).value();
  rows.engine = dataset::parse_engine(options.engine).value();
  rows.style = options.style == "compact" ? dataset::Style::compact : dataset::Style::full;
  rows.most = static_cast<std::size_t>(options.most);
  rows.longest = static_cast<std::size_t>(options.longest);
  const auto made = dataset::rows(runs, {}, rows);
  std::string text;
  for (const std::string& line : made.lines) text += line + '\n';
  if (options.output.empty()) console.result(text);
  else base::write_file(options.output, text);
  console.note(fmt::format("{} rows of {} runs; {} runs of the other split are left out{}", made.lines.size(), made.tasks, made.other_split, no_measure_text(made.no_measure)));
  return ExitCode::success;
}

}  // namespace

void add_dataset(CommandLine& line) {
  auto options = std::make_shared<DatasetOptions>();
  Arguments app = line.add("dataset", "Make training data from runs and sweeps", surroundings_group, [options, &line] { return run_dataset(*options, line.console); });
  app.add_option("RUNS", options->runs, "Folders of runs, or of sweeps")->required();
  app.add_option("--for", options->purpose, "What is learnt from it")->option_text("sft|contrast|preference|grpo|harbor")->check(Check::one_of({"sft", "contrast", "preference", "grpo", "harbor"}));
  app.add_option("--engine", options->engine, "The training engine whose field names the rows use")->option_text("trl|verl|openrlhf")->check(Check::one_of({"trl", "verl", "openrlhf"}));
  app.add_option("--style", options->style, "The prompts of optimize, or short ones for small models")->option_text("full|compact")->check(Check::one_of({"full", "compact"}));
  app.add_option("--split", options->rows.split, "Only tasks of this split")->option_text("train|test|all")->check(Check::one_of({"train", "test", "all"}));
  app.add_option("--most", options->most, "The most answers to one task that use the same techniques")->option_text("N")->check(Check::between(1, 1000000));
  app.add_option("--longest", options->longest, "Most bytes of an answer")->option_text("BYTES")->default_str("")->check(Check::between(1, 1 << 30));
  app.add_option("--seed", options->rows.seed, "Of what is drawn")->option_text("N");
  app.add_option("-o,--output", options->output, "Write to this file instead of standard output; for harbor, a folder")->option_text("FILE");
}

}  // namespace cudal1::cli
