// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cudal1::cli {

// Why the command line could not be parsed, with the nearest option or command for a name that does not exist and the
// way to the command's help.
std::string explain(const CLI::ParseError& error, const CLI::App& root, const CLI::App& command);

// Long names ("--rounds") that may be given to `command`, those of every command included.
std::vector<std::string> option_names(const CLI::App& command);

// The command of that name directly below `app`; null when there is none.
const CLI::App* command_named(const CLI::App& app, const std::string& name);

// " (did you mean \"rounds\"?)", or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace cudal1::cli
