// SPDX-License-Identifier: Apache-2.0
#include "help_text.hpp"

#include "base/display.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

constexpr std::size_t text_column = 32, widest = 100;

// As wide as the terminal, as far as it can be read.
std::size_t width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 60) return widest;
  return std::min<std::size_t>(widest, size.ws_col - 1);
}

// "  left                 right", with `right` wrapped at the column of its beginning.
std::string entry(const std::string& left, std::string_view right) {
  std::string text = "  " + left;
  if (base::display_width(text) + 2 > text_column) text += '\n' + std::string(text_column, ' ');
  else text += std::string(text_column - base::display_width(text), ' ');
  std::size_t column = text_column;
  while (!right.empty()) {
    const std::size_t end = std::min(right.find(' '), right.size());
    if (column + 1 + base::display_width(right.substr(0, end)) > width() && column > text_column) {
      text += '\n' + std::string(text_column, ' ');
      column = text_column;
    } else if (column > text_column) {
      text += ' ';
      ++column;
    }
    text += right.substr(0, end);
    column += base::display_width(right.substr(0, end));
    right.remove_prefix(std::min(end + 1, right.size()));
  }
  return text + '\n';
}

std::string described(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string& preset = option.get_default_str();
  const bool says_nothing = preset.empty() || preset == "false" || preset == "[]" || preset == "{}" || preset == "\"\"";
  if (option.get_items_expected_max() > 0 && !says_nothing) text += fmt::format(" [default: {}]", preset);
  return text;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_positional() == positional && !option->get_group().empty();
  });
}

std::string option_groups(const CLI::App& app) {
  std::string text;
  for (const auto& group : app.get_groups()) {
    std::string entries;
    for (const CLI::Option* option : options_of(app, false))
      if (option->get_group() == group) entries += entry(option_synopsis(*option), described(*option));
    if (!entries.empty()) text += fmt::format("\n{}:\n{}", group, entries);
  }
  return text;
}

std::string usage(const CLI::App& app, bool has_commands) {
  std::string text = "\nUsage: " + command_path(app);
  if (has_commands) text += " COMMAND";
  for (const CLI::Option* option : options_of(app, true)) {
    const std::string dots = option->get_items_expected_max() > 1 ? "…" : "";
    text += option->get_required() ? fmt::format(" {}{}", option->get_name(true, false), dots)
                                   : fmt::format(" [{}{}]", option->get_name(true, false), dots);
  }
  return text + " [OPTIONS]\n";
}

}  // namespace

std::string command_path(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return command_path(*command.get_parent()) + " " + command.get_name();
}

std::string option_synopsis(const CLI::Option& option) {
  std::string text;
  for (const auto& name : option.get_snames()) text += "-" + name + ", ";
  if (text.empty()) text = "    ";
  text += "--" + option.get_lnames().front();
  if (!option.get_option_text().empty()) text += " " + option.get_option_text();
  return text;
}

std::string HelpText::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  std::string text = app->get_description() + "\n" + usage(*app, !commands.empty());

  std::string positionals;
  for (const CLI::Option* option : options_of(*app, true))
    positionals += entry(option->get_name(true, false), option->get_description());
  if (!positionals.empty()) text += "\n" + positionals;

  std::vector<std::string> groups;
  for (const CLI::App* command : commands)
    if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end())
      groups.push_back(command->get_group());
  for (const auto& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const CLI::App* command : commands)
      if (command->get_group() == group) text += entry(command->get_name(), command->get_description());
  }

  text += option_groups(*app);
  if (app->get_parent() == nullptr) return text + "\n`cudal1 COMMAND --help` shows the options of a command.\n";
  std::string shared;
  for (const CLI::App* parent = app->get_parent(); parent != nullptr; parent = parent->get_parent())
    for (const CLI::Option* option : options_of(*parent, false))
      if (option != parent->get_help_ptr() && option != parent->get_version_ptr())
        shared += entry(option_synopsis(*option), described(*option));
  return text + "\nFor every command:\n" + shared;
}

}  // namespace cudal1::cli
