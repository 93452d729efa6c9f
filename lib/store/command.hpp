// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::store {

// The command that a run was last given, with every option that is not a default, wherever it was set.
struct Command {
  std::filesystem::path folder;                                          // where it was given: relative paths begin there
  std::vector<std::string> arguments;                                    // "optimize", "task.cu"
  std::vector<std::pair<std::string, std::optional<std::string>>> options;  // "--rounds", "3"; a flag has no value

  void drop(std::string_view option);
  void set(const std::string& option, const std::string& value);  // instead of every value that it has
  // As a shell takes it, `cd` in front where it was given elsewhere than here.
  std::string text() const;
};

std::string shell_quoted(const std::string& word);

void write_command(const std::filesystem::path& run, const Command& command);
std::optional<Command> read_command(const std::filesystem::path& run);  // empty where there is none, or it cannot be read

}  // namespace cudal1::store
