// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"
#include "exit_codes.hpp"

#include "store/command.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace cudal1::cli {

// The tree of commands and options, what each command does, and the console that they write to. An option's long name
// is also its key in configuration files and, as CUDAL1_…, its environment variable; see settings.hpp.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Declares a command under `group` of the help text. The action runs after parsing, with all options in place.
  Arguments add(const std::string& name, const std::string& summary, const std::string& group,
                std::function<ExitCode()> action);
  Arguments add(Arguments parent, const std::string& name, const std::string& summary, const std::string& group,
                std::function<ExitCode()> action);

  // The command also works where settings are broken: it helps to mend them, or needs none.
  void forgive_settings(Arguments command) { forgiving_.insert(&command.app()); }

  // Parses, applies environment and configuration, and runs the one command that was named. Throws base::Error.
  ExitCode run(int argc, char** argv);

  const CLI::App& root() const { return *app_; }

  // The command that was named with every option that has a value, from wherever; for printing it again.
  store::Command given();

  Console console;

 private:
  CLI::App* named_command();  // innermost; null when there was none
  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::App*, std::function<ExitCode()>> actions_;
  std::set<const CLI::App*> forgiving_;
};

// Groups of the help text.
inline constexpr const char* main_group = "Commands";
inline constexpr const char* manual_group = "Without a model";
inline constexpr const char* surroundings_group = "More commands";

}  // namespace cudal1::cli
