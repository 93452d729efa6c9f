// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "completion_script.hpp"

namespace cudal1::cli {

namespace {

struct CompletionOptions {
  std::string shell;
};

ExitCode run_completion(const CompletionOptions& options, const CommandLine& line) {
  line.console.result(completion_script(line.root(), options.shell));
  return ExitCode::success;
}

}  // namespace

void add_completion(CommandLine& line) {
  auto options = std::make_shared<CompletionOptions>();
  Arguments app = line.add("completion", "Print a script that completes commands and options in a shell", surroundings_group,
                           [options, &line] { return run_completion(*options, line); });
  line.forgive_settings(app);
  app.add_option("SHELL", options->shell, "bash, zsh or fish")
      ->required()
      ->check(Check::one_of({"bash", "zsh", "fish"}));
}

}  // namespace cudal1::cli
