// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "judged_variants.hpp"

namespace cudal1::cli {

namespace {

struct Options {
  JudgedVariantsOptions judged;
  std::string variant;
};

ExitCode run(Options options, const Console& console) {
  options.judged.variants = {options.variant};
  const auto judgements = judge_variants(options.judged, console);
  return outcome::is_right(judgements.front().judgement.verdict) ? ExitCode::success : ExitCode::bad_input;
}

}  // namespace

void add_verify(CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App& app = line.add("verify", "Is a variant right?", manual_group, [options, &line] { return run(*options, line.console); });
  add_task_options(app, options->judged.task);
  app.add_option("VARIANT", options->variant, "A kernel file that answers the task, or somebody's PyTorch module with a ModelNew")->required();
  add_judged_variants_options(app, options->judged);
}

}  // namespace cudal1::cli
