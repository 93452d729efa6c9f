// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "first_prompt.hpp"
#include "run_options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct PromptOptions {
  RunOptions run;
  bool as_json = false;
};

ExitCode run_prompt(const PromptOptions& options, const Console& console) {
  const auto choice = choose_device(options.run.device);
  auto open = open_task(options.run.task, choice);
  console.note(choice.statement);
  WorkbenchOptions bench = options.run.workbench;
  bench.final_verdicts = false;
  Workbench workbench(open, choice, bench);
  const search::Start start{workbench.judge.device(), workbench.judge.reference()};
  const auto prompt = first_prompt(open.task, start, prompt_templates(options.run), search_options(options.run));
  if (options.as_json) {
    console.result(json{{"schema", 1}, {"system", prompt.system}, {"user", prompt.user},
                        {"estimated_tokens", estimated_tokens(prompt)}, {"cut", prompt.cut}}
                       .dump(2, ' ', false, json::error_handler_t::replace) +
                   "\n");
  } else {
    console.result(fmt::format("{}\n\n{}\n", prompt.system, prompt.user));
    console.note(fmt::format("about {} tokens", estimated_tokens(prompt)));
  }
  return ExitCode::success;
}

}  // namespace

void add_prompt(CommandLine& line) {
  auto options = std::make_shared<PromptOptions>();
  Arguments app = line.add("prompt", "Print the prompt that a first round would send", manual_group,
                           [options, &line] { return run_prompt(*options, line.console); });
  add_run_options(app, options->run);
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
