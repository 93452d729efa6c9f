// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "gpu_matrix.hpp"
#include "judged_variants.hpp"

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct BenchOptions {
  JudgedVariantsOptions judged;
  double at_least = 0;
};

// The whole interval is above it: what is claimed is what was shown.
bool reaches(const outcome::Judgement& judgement, double at_least) {
  return judgement.verdict == outcome::Verdict::faster && judgement.speedup && judgement.speedup->low >= at_least;
}

bool several_gpus(const std::string& names) { return names == "all" || names.find(',') != std::string::npos; }

// Right where the task can be judged at all, faster somewhere, and with --at-least that everywhere.
ExitCode run_on_gpus(const BenchOptions& options, const Console& console) {
  bool faster = false, right = true, reached = true;
  for (const JudgedOnGpu& gpu : judge_on_gpus(options.judged, console)) {
    bool here = false;
    for (const auto& [name, judgement] : gpu.judged.judgements) {
      faster = faster || judgement.verdict == outcome::Verdict::faster;
      right = right && outcome::is_right(judgement.verdict);
      here = here || reaches(judgement, options.at_least);
    }
    reached = reached && (here || options.at_least <= 0);
    if (options.at_least > 0 && !here) console.warn(fmt::format("{}: no variant is surely {:g} times as fast (--at-least)", gpu.record.name, options.at_least));
  }
  if (!right) return ExitCode::bad_input;
  return faster && reached ? ExitCode::success : ExitCode::nothing_faster;
}

ExitCode run_bench(const BenchOptions& options, const Console& console) {
  if (several_gpus(options.judged.device.gpu)) return run_on_gpus(options, console);
  bool faster = false, right = true, reached = false;
  const auto judged = judge_variants(options.judged, console);
  for (const auto& [name, judgement] : judged.judgements) {
    faster = faster || judgement.verdict == outcome::Verdict::faster;
    right = right && outcome::is_right(judgement.verdict);
    reached = reached || reaches(judgement, options.at_least);
  }
  if (!right) return ExitCode::bad_input;
  if (options.at_least > 0 && !reached) console.warn(fmt::format("no variant is surely {:g} times as fast (--at-least)", options.at_least));
  if (!faster || (options.at_least > 0 && !reached)) return ExitCode::nothing_faster;
  return judged.predicted ? ExitCode::predicted_only : ExitCode::success;
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  Arguments app = line.add("bench", "Say how fast a variant is, and what limits it", manual_group,
                           [options, &line] { return run_bench(*options, line.console); });
  add_task_options(app, options->judged.task);
  app.add_option("VARIANT", options->judged.variants, "Kernel files that answer the task")->required();
  app.add_flag("--counters", options->judged.counters, "Also print what the hardware or the simulator counted");
  app.add_option("--against", options->judged.workbench.against, "Compare with this variant instead of the reference")
      ->option_text("FILE");
  app.add_option("--at-least", options->at_least, "Exit with 3 unless the whole interval of a variant's speed-up lies above this")
      ->option_text("SPEEDUP")
      ->default_str("")
      ->check(Check::positive());
  add_judged_variants_options(app, options->judged);
}

}  // namespace cudal1::cli
