// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "configuration_file.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cudal1::cli {

// The value of one option, and where it comes from. In this order: the command line, the environment, the project's
// file, the user's, the system's, the built-in default. Every option with a long name has all of these.
struct Setting {
  std::string key;                  // "rounds", or "optimize.rounds" from a command's own table
  std::vector<std::string> values;
  Origin origin = Origin::built_in;
  std::string where;                // "CUDAL1_ROUNDS", "/…/config.toml:3"; empty for defaults
};

std::string environment_name(const std::string& key);  // "no-sandbox" → "CUDAL1_NO_SANDBOX"

// Options that can be set from outside the command line: all but help, version and positionals.
std::vector<const CLI::Option*> settable_options(const CLI::App& app);

// Gives every option of `command` and its parents that was not on the command line its value from the environment or a
// file. Throws base::Error(usage), naming where the value stands: a key that no option has (with the nearest), a value
// that does not fit, or a project's file that sets what only the user may.
void apply_settings(CLI::App& root, CLI::App& command);

// "CUDAL1_ROUNDSX is no setting; did you mean CUDAL1_ROUNDS?", for each variable that is nearly one.
std::vector<std::string> misspelt_variables(const CLI::App& root);

// Every setting as it would apply, for `cudal1 config show`; sorted by key. Throws as apply_settings() does for any command.
std::vector<Setting> all_settings(const CLI::App& root);

}  // namespace cudal1::cli
