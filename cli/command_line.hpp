// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "exit_codes.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>

#include <CLI/CLI.hpp>

namespace cudal1::cli {

// The tree of commands and options, what each command does, and the console that they write to. An option's long name
// is also its key in configuration files and, as CUDAL1_…, its environment variable; see settings.hpp.
class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Declares a command under `group` of the help text. The action runs after parsing, with all options in place.
  CLI::App& add(const std::string& name, const std::string& summary, const std::string& group,
                std::function<ExitCode()> action);
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& summary, const std::string& group,
                std::function<ExitCode()> action);

  // The command also works where settings are broken: it helps to mend them, or needs none.
  void forgive_settings(const CLI::App& command) { forgiving_.insert(&command); }

  // Parses, applies environment and configuration, and runs the one command that was named. Throws base::Error.
  ExitCode run(int argc, char** argv);

  CLI::App app;
  Console console;

 private:
  CLI::App* named_command();  // innermost; null when there was none
  std::map<const CLI::App*, std::function<ExitCode()>> actions_;
  std::set<const CLI::App*> forgiving_;
};

// Groups of the help text.
inline constexpr const char* main_group = "Commands";
inline constexpr const char* manual_group = "Without a model";
inline constexpr const char* surroundings_group = "Surroundings";

}  // namespace cudal1::cli
