// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::cli {

// Where a value comes from; a later one wins.
enum class Origin { built_in, system, user, project, environment, flag };
std::string_view name(Origin origin);

// One file of settings: `rounds = 6` for every command that has --rounds, and the same under `[optimize]` for that
// command alone (the key is then "optimize.rounds"). Arrays give an option several values.
struct ConfigurationFile {
  struct Entry {
    std::vector<std::string> values;
    int line = 0;
  };
  Origin origin = Origin::user;
  std::filesystem::path path;
  bool exists = false;
  std::map<std::string, Entry> entries;

  std::string where(const std::string& key) const;  // "/home/me/.config/cudal1/config.toml:3"
};

// The places that apply in the current folder, the one that wins first: the nearest `.cudal1.toml` upwards (left out
// where there is none), the user's, the system's.
std::vector<std::pair<Origin, std::filesystem::path>> configuration_paths();

// What stands there. Throws base::Error(usage) for a file that cannot be read or parsed.
std::vector<ConfigurationFile> configuration_files();

// A project's file comes with somebody else's source tree, so it may set only what can do no harm, unless the user's
// own file lists its folder in `trusted-projects` and nobody but the user or root can write it.
inline constexpr const char* trusted_projects_key = "trusted-projects";
bool project_may_set(const std::string& option);
bool trusted(const ConfigurationFile& project, const std::vector<ConfigurationFile>& files);

}  // namespace cudal1::cli
