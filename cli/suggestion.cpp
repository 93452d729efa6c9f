// SPDX-License-Identifier: Apache-2.0
#include "suggestion.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cudal1::cli {

namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string explain_extra(const std::string& word, const CLI::App& root, const CLI::App& command) {
  if (word.starts_with("-") && word.size() > 1) {
    const std::string name = word.substr(0, word.find('='));
    // It is an option, but of the command behind it.
    const auto own = option_names(command);
    if (std::find(own.begin(), own.end(), name) != own.end())
      return fmt::format("{} is an option of a command: write it behind {}", name, &command == &root ? "the command" : command.get_name());
    std::error_code none;
    if (std::filesystem::exists(word, none))
      return fmt::format("unknown option {}; a file whose name begins with - is written ./{}, or behind --", word, word);
    return fmt::format("unknown option {}{}", name, did_you_mean(name, option_names(command)));
  }
  const auto commands = command_names(command);
  if (&command == &root || !commands.empty())
    return fmt::format("unknown command \"{}\"{}", word, did_you_mean(word, commands));
  return fmt::format("unexpected argument \"{}\"", word);
}

// The parser's words where they say more of it than of the mistake: a range that ends at the largest number there is, the
// type of a value that is missing.
std::string plainly(std::string what) {
  const auto range = what.find(" not in range ");
  if (const auto value = what.find(": Value "); range != std::string::npos && value != std::string::npos && what.size() > range + 60)
    return fmt::format("{}: {} is not a number above 0", what.substr(0, value), what.substr(value + 8, range - value - 8));
  if (const auto needs = what.find(": 1 required "); needs != std::string::npos && what.ends_with("missing"))
    return fmt::format("{} needs a value", what.substr(0, needs));
  return what;
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const auto near = base::nearest(word, candidates);
  return near ? fmt::format(" (did you mean \"{}\"?)", *near) : "";
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options([](const CLI::Option*) { return true; }))
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string explain(const CLI::ParseError& error, const CLI::App& root, const CLI::App& command) {
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    auto extra = root.remaining(true);
    if (extra.empty()) extra = command.remaining(true);
    if (!extra.empty()) what = explain_extra(extra.front(), root, command);
  }
  what = plainly(std::move(what));
  std::string path = "cudal1";
  if (const CLI::App* above = command.get_parent(); above != nullptr && above != &root) path += " " + above->get_name();
  if (&command != &root) path += " " + command.get_name();
  return fmt::format("{}\nTry `{} --help`.", what, path);
}

}  // namespace cudal1::cli
