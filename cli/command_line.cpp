// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "base/error.hpp"
#include "help_text.hpp"
#include "settings.hpp"
#include "suggestion.hpp"

#include <CLI/CLI.hpp>

namespace cudal1::cli {

namespace {

void add_console_options(Arguments app, ConsoleOptions& options) {
  app.add_option("--color", options.color, "Colour the output")
      ->option_text("auto|always|never")
      ->check(Check::one_of({"auto", "always", "never"}));
  app.add_flag("--no-color", options.no_color, "The same as --color never");
  app.add_option("--progress", options.progress, "How progress is shown on standard error")
      ->option_text("auto|plain|json|none")
      ->check(Check::one_of({"auto", "plain", "json", "none"}));
  app.add_flag("-q,--quiet", options.quiet, "Print only results, warnings and errors");
  app.add_flag("--no-input", options.no_input, "Never ask a question");
}

}  // namespace

CommandLine::CommandLine() : app_(std::make_unique<CLI::App>("Makes CUDA kernels faster, and proves it.", "cudal1")) {
  CLI::App& app = *app_;
  app.formatter(std::make_shared<HelpText>());
  app.option_defaults()->always_capture_default();
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version", "cudal1 " CUDAL1_VERSION, "Show the version");
  app.require_subcommand(0, 1);
  add_console_options(Arguments(app), console.options);
}

CommandLine::~CommandLine() = default;

Arguments CommandLine::add(Arguments parent, const std::string& name, const std::string& summary,
                           const std::string& group, std::function<ExitCode()> action) {
  CLI::App& command = *parent.app().add_subcommand(name, summary);
  command.group(group);
  command.fallthrough();
  command.require_subcommand(0, 1);
  if (action) actions_[&command] = std::move(action);
  return Arguments(command);
}

Arguments CommandLine::add(const std::string& name, const std::string& summary, const std::string& group,
                           std::function<ExitCode()> action) {
  return add(Arguments(*app_), name, summary, group, std::move(action));
}

CLI::App* CommandLine::named_command() {
  CLI::App& app = *app_;
  CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return command == &app ? nullptr : command;
}

store::Command CommandLine::given() {
  const CLI::App& app = *app_;
  store::Command given{std::filesystem::current_path(), {}, {}};
  const CLI::App* command = named_command();
  for (const CLI::App* at = command; at != nullptr && at != &app; at = at->get_parent()) given.arguments.insert(given.arguments.begin(), at->get_name());
  for (const CLI::App* at = command; at != nullptr; at = at->get_parent())
    for (const CLI::Option* option : at->get_options([](const CLI::Option* candidate) { return candidate->count() > 0; })) {
      const auto values = option->reduced_results();
      if (option->get_positional() && option->get_lnames().empty() && option->get_snames().empty()) {
        given.arguments.insert(given.arguments.end(), values.begin(), values.end());
        continue;
      }
      const std::string name = "--" + option->get_lnames().front();
      if (option->get_items_expected_max() == 0) {
        if (!values.empty() && values.front() != "false") given.options.emplace_back(name, std::nullopt);
        continue;
      }
      for (const std::string& value : values) given.options.emplace_back(name, value);
    }
  return given;
}

ExitCode CommandLine::run(int argc, char** argv) {
  CLI::App& app = *app_;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* command = named_command();
    console.print(command != nullptr ? command->help() : app.help());
    return ExitCode::success;
  } catch (const CLI::CallForVersion& version) {
    console.result(std::string(version.what()) + "\n");
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    const CLI::App* command = named_command();
    throw base::Error(base::Fault::usage, explain(error, app, command != nullptr ? *command : app));
  }
  CLI::App* command = named_command();
  if (command == nullptr) {
    console.warn(app.help());
    return ExitCode::usage;
  }
  for (const std::string& misspelt : misspelt_variables(app)) console.warn(misspelt);
  try {
    apply_settings(app, *command);
  } catch (const base::Error&) {
    if (!forgiving_.contains(command)) throw;
  }
  const auto action = actions_.find(command);
  if (action == actions_.end()) {
    console.warn(command->help());
    return ExitCode::usage;
  }
  return action->second();
}

}  // namespace cudal1::cli
