// SPDX-License-Identifier: Apache-2.0
#include "answer_sweep.hpp"
#include "command_line.hpp"
#include "judged_variants.hpp"

#include "base/error.hpp"
#include "pytorch/host.hpp"

#include <algorithm>

namespace cudal1::cli {

namespace {

struct Options {
  JudgedVariantsOptions judged;
  AnswerSweepOptions bulk;
};

ExitCode run(Options options, const Console& console) {
  const bool bulk = !options.bulk.answers.empty();
  if (bulk != options.judged.variants.empty() || bulk != options.judged.task.task.empty())
    throw base::Error(base::Fault::usage, "verify needs TASK and VARIANT, or --answers instead of both; the task itself as VARIANT tries its own kernel");
  if (bulk) {
    options.bulk.output.as_json = options.judged.as_json;
    return sweep_answers(options.bulk, options.judged, console);
  }
  const auto& variants = options.judged.variants;
  if (options.judged.untimed && !std::all_of(variants.begin(), variants.end(), [](const auto& file) { return pytorch::is_module(file); }))
    throw base::Error(base::Fault::usage, "--untimed is for published answers, not for kernel files: --quick takes a first verdict of these");
  const auto judged = judge_variants(options.judged, console);
  for (const auto& [name, judgement] : judged.judgements)
    if (!outcome::is_right(judgement.verdict)) return ExitCode::bad_input;
  return judged.predicted ? ExitCode::predicted_only : ExitCode::success;
}

}  // namespace

void add_verify(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Arguments app = line.add("verify", "Say whether a variant is right", manual_group, [options, &line] { return run(*options, line.console); });
  add_task_options(app, options->judged.task);
  app.add_option("VARIANT", options->judged.variants, "Kernel files that answer the task, or somebody's PyTorch module with a ModelNew");
  app.make_optional("TASK");   // --answers stands for both
  add_judged_variants_options(app, options->judged);
  app.add_flag("--untimed", options->judged.untimed, "Say only whether published answers are right, and take no times");
  add_answer_sweep_options(app, options->bulk);
}

}  // namespace cudal1::cli
