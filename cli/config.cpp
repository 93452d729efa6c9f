// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "settings.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct ConfigOptions {
  bool origin = false, as_json = false;
};

std::string quoted(const std::string& value) {
  const bool bare = value == "true" || value == "false" ||
                    (!value.empty() && value.find_first_not_of("0123456789.-+e") == std::string::npos);
  return bare ? value : json(value).dump();
}

std::string value_text(const Setting& setting) {
  if (setting.values.empty()) return "(not set)";
  if (setting.values.size() == 1) return quoted(setting.values.front());
  std::string text;
  for (const auto& value : setting.values) text += (text.empty() ? "[" : ", ") + quoted(value);
  return text + "]";
}

ExitCode show(const ConfigOptions& options, const CommandLine& line) {
  json list = json::array();
  std::string text;
  for (const auto& setting : all_settings(line.root())) {
    const std::string assignment = fmt::format("{} = {}", setting.key, value_text(setting));
    const std::string from = setting.where.empty() ? "" : " " + setting.where;
    text += options.origin ? fmt::format("{:<44} # {}{}\n", assignment, name(setting.origin), from) : assignment + "\n";
    list.push_back({{"key", setting.key},
                    {"values", setting.values},
                    {"origin", name(setting.origin)},
                    {"where", setting.where}});
  }
  line.console.result(options.as_json ? json{{"schema", 1}, {"settings", list}}.dump(2) + "\n" : text);
  return ExitCode::success;
}

ExitCode paths(const CommandLine& line) {
  std::string text;
  for (const auto& [origin, path] : configuration_paths())
    text += fmt::format("{:<8} {}{}\n", name(origin), path.string(), std::filesystem::exists(path) ? "" : "  (not there)");
  line.console.result(text);
  return ExitCode::success;
}

}  // namespace

void add_config(CommandLine& line) {
  auto options = std::make_shared<ConfigOptions>();
  Arguments app = line.add("config", "Show settings, and the files that they come from", surroundings_group, nullptr);
  Arguments show_app =
      line.add(app, "show", "Every setting as it applies here", "Commands", [options, &line] { return show(*options, line); });
  show_app.add_flag("--origin", options->origin, "Also print where each value comes from");
  show_app.add_flag("--json", options->as_json, "Print one JSON object");
  line.forgive_settings(line.add(app, "path", "The files that are read", "Commands", [&line] { return paths(line); }));
}

}  // namespace cudal1::cli
