// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include "suggestion.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cudal1::cli {

namespace {

std::vector<const CLI::App*> commands_under(const CLI::App& app) {
  std::vector<const CLI::App*> all;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    all.push_back(command);
    for (const CLI::App* inner : commands_under(*command)) all.push_back(inner);
  }
  return all;
}

std::set<std::string> keys_of(const CLI::App& app) {
  std::set<std::string> keys;
  for (const CLI::Option* option : settable_options(app)) keys.insert(option->get_lnames().front());
  return keys;
}

std::set<std::string> keys_of_tree(const CLI::App& root) {
  auto keys = keys_of(root);
  for (const CLI::App* command : commands_under(root)) keys.merge(keys_of(*command));
  return keys;
}

// "rounds" → {"", "rounds"}; "optimize.rounds" → {"optimize", "rounds"}
std::pair<std::string, std::string> split_key(const std::string& key) {
  const auto dot = key.find('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

void require_known_key(const CLI::App& root, const ConfigurationFile& file, const std::string& key) {
  const auto [command, option] = split_key(key);
  std::set<std::string> known;
  if (command.empty()) {
    known = keys_of_tree(root);
    known.insert(trusted_projects_key);
  } else {
    const CLI::App* app = command_named(root, command);
    if (app == nullptr) {
      std::vector<std::string> names;
      for (const CLI::App* candidate : commands_under(root)) names.push_back(candidate->get_name());
      throw base::Error(base::Fault::usage, fmt::format("{}: there is no command [{}]{}", file.where(key), command,
                                                        did_you_mean(command, names)));
    }
    known = keys_of(*app);
    known.merge(keys_of(root));
  }
  if (known.contains(option)) return;
  throw base::Error(base::Fault::usage,
                    fmt::format("{}: unknown key \"{}\"{}", file.where(key), option,
                                did_you_mean(option, std::vector<std::string>(known.begin(), known.end()))));
}

void check(const CLI::App& root, const std::vector<ConfigurationFile>& files) {
  for (const auto& file : files) {
    const bool restricted = file.origin == Origin::project && !trusted(file, files);
    for (const auto& [key, entry] : file.entries) {
      require_known_key(root, file, key);
      if (restricted && !project_may_set(split_key(key).second))
        throw base::Error(
            base::Fault::usage,
            fmt::format("{}: a project's file may not set \"{}\"; set it in {}, or add \"{}\" to {} there if the project "
                        "is yours",
                        file.where(key), split_key(key).second, files[1].path.string(),
                        file.path.parent_path().string(), trusted_projects_key));
    }
  }
}

std::optional<Setting> find(const std::vector<ConfigurationFile>& files, const std::string& command,
                            const std::string& option) {
  const std::string variable = environment_name(option);
  if (const char* value = std::getenv(variable.c_str()); value != nullptr && *value != '\0')
    return Setting{option, {value}, Origin::environment, variable};
  for (const auto& file : files)
    for (const auto& key : {command + "." + option, option})
      if (const auto entry = file.entries.find(key); entry != file.entries.end())
        return Setting{key, entry->second.values, file.origin, file.where(key)};
  return std::nullopt;
}

void apply(CLI::Option& option, const Setting& setting) {
  try {
    for (const auto& value : setting.values) option.add_result(value);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    throw base::Error(base::Fault::usage, fmt::format("{}: {}", setting.where, error.what()));
  }
}

}  // namespace

std::string environment_name(const std::string& key) {
  std::string name = "CUDAL1_";
  for (const char c : key) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::vector<const CLI::Option*> settable_options(const CLI::App& app) {
  return app.get_options([&](const CLI::Option* option) {
    return !option->get_lnames().empty() && option != app.get_help_ptr() && option != app.get_version_ptr();
  });
}

void apply_settings(CLI::App& root, CLI::App& command) {
  const auto files = configuration_files();
  check(root, files);
  for (CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* settable : settable_options(*app)) {
      CLI::Option& option = *app->get_option("--" + settable->get_lnames().front());
      if (option.count() > 0) continue;
      if (const auto setting = find(files, command.get_name(), option.get_lnames().front())) apply(option, *setting);
    }
}

std::vector<std::string> misspelt_variables(const CLI::App& root) {
  std::vector<std::string> known;
  for (const std::string& key : keys_of_tree(root)) known.push_back(environment_name(key));
  for (const char* other : {"CUDAL1_SHARD", "CUDAL1_SHARDS", "CUDAL1_GPU_MEMORY_GIB", "CUDAL1_NVML", "CUDAL1_CUPTI", "CUDAL1_SSH", "CUDAL1_SSH_PATIENCE", "CUDAL1_ACCEPT", "CUDAL1_PROGRAM", "CUDAL1_DRIVER", "CUDAL1_LAUNCHER"}) known.emplace_back(other);
  std::vector<std::string> misspelt;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (!name.starts_with("CUDAL1_") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    // By what is told apart: the prefix is everybody's.
    std::vector<std::string> endings;
    for (const std::string& other : known) endings.push_back(other.substr(7));
    if (const auto near = base::nearest(name.substr(7), endings)) misspelt.push_back(fmt::format("{} is no setting; did you mean CUDAL1_{}?", name, *near));
  }
  return misspelt;
}

std::vector<Setting> all_settings(const CLI::App& root) {
  const auto files = configuration_files();
  check(root, files);
  std::map<std::string, Setting> settings;
  auto apps = commands_under(root);
  apps.push_back(&root);
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : settable_options(*app)) {
      const std::string& key = option->get_lnames().front();
      // A value that the command would refuse is refused here.
      if (const auto given = find(files, app->get_name(), key); given && option->count() == 0) apply(const_cast<CLI::Option&>(*option), *given);
      if (settings.contains(key)) continue;
      Setting setting{key, {}, Origin::built_in, ""};
      if (option->get_items_expected_max() == 0) setting.values = {"false"};
      else if (!option->get_default_str().empty() && option->get_default_str() != "[]") setting.values = {option->get_default_str()};
      settings[key] = find(files, "", key).value_or(setting);
    }
  for (const auto& file : files)  // the one that wins comes first
    for (const auto& [key, entry] : file.entries)
      if (!settings.contains(key)) settings[key] = {key, entry.values, file.origin, file.where(key)};
  std::vector<Setting> sorted;
  for (auto& [key, setting] : settings) sorted.push_back(std::move(setting));
  return sorted;
}

}  // namespace cudal1::cli
