// SPDX-License-Identifier: Apache-2.0
#include "store/command.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace fs = std::filesystem;

namespace {

using json = nlohmann::ordered_json;
constexpr int command_schema = 1;
constexpr const char* file_name = "command.json";

}  // namespace

std::string shell_quoted(const std::string& word) {
  static constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:/,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void Command::drop(std::string_view option) {
  std::erase_if(options, [&](const auto& given) { return given.first == option; });
}

void Command::set(const std::string& option, const std::string& value) {
  drop(option);
  options.emplace_back(option, value);
}

std::string Command::text() const {
  std::error_code none;
  std::string result = folder.empty() || fs::equivalent(folder, fs::current_path(none), none) ? "" : "cd " + shell_quoted(folder.string()) + " && ";
  result += "cudal1";
  const bool dashes = std::any_of(arguments.begin(), arguments.end(), [](const std::string& word) { return word.starts_with('-'); });
  std::string given;
  for (const auto& [option, value] : options) {
    given += " " + option;
    if (value) given += (value->starts_with('-') ? "=" : " ") + shell_quoted(*value);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    // What looks like an option stands behind `--`, and that behind all options.
    if (dashes && i == 1) result += given + " --";
    result += " " + shell_quoted(arguments[i]);
  }
  return dashes ? result : result + given;
}

void write_command(const fs::path& run, const Command& command) {
  json options = json::array();
  for (const auto& [option, value] : command.options) options.push_back(value ? json{option, *value} : json{option});
  const json all = {{"schema", command_schema}, {"folder", command.folder.string()}, {"arguments", command.arguments}, {"options", options}};
  base::write_file(run / file_name, all.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<Command> read_command(const fs::path& run) {
  std::error_code none;
  if (!fs::exists(run / file_name, none)) return std::nullopt;
  try {
    const json all = json::parse(base::read_file(run / file_name, std::size_t{1} << 20));
    if (all.at("schema") != command_schema) return std::nullopt;
    Command command{all.at("folder").get<std::string>(), all.at("arguments").get<std::vector<std::string>>(), {}};
    for (const json& option : all.at("options"))
      command.options.emplace_back(option.at(0).get<std::string>(), option.size() > 1 ? std::optional(option.at(1).get<std::string>()) : std::nullopt);
    return command;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace cudal1::store
