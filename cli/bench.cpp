// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "judged_variants.hpp"

namespace cudal1::cli {

namespace {

using Options = JudgedVariantsOptions;

ExitCode run(const Options& options, const Console& console) {
  bool faster = false, right = true;
  for (const auto& [name, judgement] : judge_variants(options, console)) {
    faster = faster || judgement.verdict == outcome::Verdict::faster;
    right = right && outcome::is_right(judgement.verdict);
  }
  if (!right) return ExitCode::bad_input;
  return faster ? ExitCode::success : ExitCode::nothing_faster;
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Arguments app = line.add("bench", "How fast is a variant, and what limits it?", manual_group,
                           [options, &line] { return run(*options, line.console); });
  add_task_options(app, options->task);
  app.add_option("VARIANT", options->variants, "Kernel files that answer the task")->required();
  app.add_flag("--counters", options->counters, "Also what the hardware, or the simulator, counted");
  app.add_option("--against", options->workbench.against, "Another variant to compare with, instead of the reference")
      ->option_text("FILE");
  add_judged_variants_options(app, *options);
}

}  // namespace cudal1::cli
