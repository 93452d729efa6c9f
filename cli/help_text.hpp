// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace cudal1::cli {

// `--help`: what the command does, its usage, and its options by group, then those that every command has.
class HelpText final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// "cudal1 config show", from the root down.
std::string command_path(const CLI::App& command);

// "-o, --output FILE".
std::string option_synopsis(const CLI::Option& option);

}  // namespace cudal1::cli
