// SPDX-License-Identifier: Apache-2.0
#include "configuration_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;

// Nothing here names a program, an endpoint, a key, a certificate or a place to write to.
constexpr std::string_view harmless[] = {"rounds",      "samples",     "exemplars",      "sampling",   "tau", "bucket-width",
                                         "seed",        "device",      "gpu",            "set",        "time-limit",
                                         "target",      "stagnation",  "share-of-limit", "color",      "no-color",
                                         "progress",    "quiet",       "no-input",       "json",       "format",
                                         "counters",    "arch",        "no-repair",      "token-limit", "cost-limit",
                                         "no-sanitizer", "no-counters", "gpu-budget", "run-limit",      "confirmations",
                                         "allow-no-improvement"};

std::string scalar(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  throw base::Error(base::Fault::usage, where + ": expected a text, a number, true or false");
}

void read_table(ConfigurationFile& file, const toml::table& table, const std::string& prefix) {
  for (const auto& [raw, node] : table) {
    std::string key(raw.str());
    std::replace(key.begin(), key.end(), '_', '-');
    key = prefix + key;
    auto& entry = file.entries[key];
    entry.line = static_cast<int>(node.source().begin.line);
    const std::string where = fmt::format("{}:{}: {}", file.path.string(), entry.line, key);
    if (const auto* inner = node.as_table()) {
      file.entries.erase(key);
      if (!prefix.empty()) throw base::Error(base::Fault::usage, where + ": a table inside a command's table means nothing");
      read_table(file, *inner, key + ".");
    } else if (const auto* array = node.as_array()) {
      for (const auto& item : *array) entry.values.push_back(scalar(item, where));
    } else {
      entry.values.push_back(scalar(node, where));
    }
  }
}

ConfigurationFile read_file(Origin origin, const fs::path& path) {
  ConfigurationFile file{origin, path, false, {}};
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return file;
  file.exists = true;
  std::string text;
  try {
    text = base::read_file(path, std::size_t{1} << 20);
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::usage, fmt::format("configuration: {}", error.what()));
  }
  try {
    read_table(file, toml::parse(text, path.string()), "");
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    throw base::Error(base::Fault::usage,
                      fmt::format("{}:{}:{}: {}", path.string(), begin.line, begin.column, error.description()));
  }
  return file;
}

fs::path system_file() {
  const char* folders = std::getenv("XDG_CONFIG_DIRS");
  std::istringstream list(folders != nullptr && *folders != '\0' ? folders : "/etc/xdg");
  fs::path first;
  for (std::string folder; std::getline(list, folder, ':');) {
    const auto path = fs::path(folder) / "cudal1" / "config.toml";
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
    if (first.empty()) first = path;
  }
  return first;
}

}  // namespace

std::string_view name(Origin origin) {
  static constexpr std::string_view names[] = {"default", "system", "user", "project", "environment", "flag"};
  return names[static_cast<std::size_t>(origin)];
}

std::string ConfigurationFile::where(const std::string& key) const {
  const auto entry = entries.find(key);
  return entry == entries.end() ? path.string() : fmt::format("{}:{}", path.string(), entry->second.line);
}

std::vector<std::pair<Origin, fs::path>> configuration_paths() {
  std::vector<std::pair<Origin, fs::path>> paths;
  std::error_code ignored;
  for (fs::path folder = fs::current_path(ignored); !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".cudal1.toml", ignored)) {
      paths.emplace_back(Origin::project, folder / ".cudal1.toml");
      break;
    }
    if (folder == folder.parent_path()) break;
  }
  paths.emplace_back(Origin::user, base::config_folder() / "config.toml");
  paths.emplace_back(Origin::system, system_file());
  return paths;
}

std::vector<ConfigurationFile> configuration_files() {
  std::vector<ConfigurationFile> files;
  for (const auto& [origin, path] : configuration_paths()) files.push_back(read_file(origin, path));
  return files;
}

bool project_may_set(const std::string& option) {
  return std::find(std::begin(harmless), std::end(harmless), option) != std::end(harmless);
}

bool trusted(const ConfigurationFile& project, const std::vector<ConfigurationFile>& files) {
  struct stat facts {};
  if (stat(project.path.c_str(), &facts) != 0 || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return false;
  if (facts.st_uid != geteuid() && facts.st_uid != 0) return false;
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(project.path.parent_path(), ignored);
  for (const auto& file : files) {
    if (file.origin == Origin::project) continue;
    const auto entry = file.entries.find(trusted_projects_key);
    if (entry == file.entries.end()) continue;
    for (const auto& value : entry->second.values)
      if (fs::weakly_canonical(value, ignored) == folder) return true;
  }
  return false;
}

}  // namespace cudal1::cli
