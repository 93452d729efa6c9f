// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include "command_line.hpp"
#include "help_text.hpp"
#include "settings.hpp"
#include "suggestion.hpp"

#include "base/error.hpp"
#include "tensor/function.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cudal1::cli {

// The files of cli/help_topics, compiled in.
std::optional<std::string_view> embedded_text(std::string_view name);

namespace {

struct HelpOptions {
  std::string topic;
};

std::string embedded(std::string_view name) { return std::string(embedded_text(name).value()); }

std::string exit_code_rows() {
  std::string text;
  for (const auto& row : exit_codes()) text += fmt::format("  {:>3}  {}\n", static_cast<int>(row.code), row.meaning);
  return text;
}

// Every command below `app` and `app` itself.
void collect(const CLI::App& app, std::vector<const CLI::App*>& all) {
  all.push_back(&app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) collect(*command, all);
}

std::string environment_rows(const CLI::App& root) {
  std::vector<const CLI::App*> apps;
  collect(root, apps);
  std::map<std::string, std::string> rows;
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : settable_options(*app))
      rows.emplace(environment_name(option->get_lnames().front()), option->get_description());
  std::string text;
  for (const auto& [variable, description] : rows) text += fmt::format("  {:<30}  {}\n", variable, description);
  return text;
}

// "optimize<TAB>-o, --output": what the manual is compared with.
std::string option_rows(const CLI::App& root) {
  std::vector<const CLI::App*> apps;
  collect(root, apps);
  std::string text;
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : app->get_options([](const CLI::Option*) { return true; })) {
      if (option->get_positional() || option == app->get_help_ptr()) continue;
      std::string names;
      for (const auto& name : option->get_snames()) names += "-" + name + ", ";
      text += fmt::format("{}\t{}--{}\n", command_path(*app), names, option->get_lnames().front());
    }
  return text;
}

// Each function once, with all its spellings' names under the module that has it.
std::string torch_functions() {
  std::map<std::string, std::set<std::string>> by_module;
  for (const std::string& spelling : tensor::all_spellings()) {
    const std::size_t dot = spelling.rfind('.');
    if (dot != std::string::npos) by_module[dot == 0 ? "methods of tensors" : spelling.substr(0, dot)].insert(spelling.substr(dot + 1));
  }
  std::string text;
  for (const auto& [module, names] : by_module) {
    text += fmt::format("\n{}:\n", module == "F" ? "F, which is torch.nn.functional" : module);
    std::string line = " ";
    for (const std::string& name : names) {
      if (line.size() + 1 + name.size() > 78) text += line + "\n", line = " ";
      line += " " + name;
    }
    text += line + "\n";
  }
  return text;
}

struct Topic {
  const char* name;
  const char* summary;
  std::string (*text)(const CLI::App& root);
};

constexpr Topic topics[] = {
    {"kernel-file", "the language of tasks and variants", [](const CLI::App&) { return embedded("kernel-file.txt"); }},
    {"exit-codes", "how commands end", [](const CLI::App&) { return embedded("exit-codes.txt") + exit_code_rows(); }},
    {"environment", "variables, and which setting wins",
     [](const CLI::App& root) { return embedded("environment.txt") + environment_rows(root); }},
    {"torch", "the functions that a torch line may use", [](const CLI::App&) { return embedded("torch.txt") + torch_functions(); }},
    {"options", "every option of every command, for programs", option_rows},
};

ExitCode run_help(const HelpOptions& options, const CommandLine& line) {
  if (options.topic.empty()) {
    std::string list;
    for (const auto& topic : topics) list += fmt::format("  help {:<25} {}\n", topic.name, topic.summary);
    line.console.result(line.root().help() + "\nTopics:\n" + list);
    return ExitCode::success;
  }
  for (const auto& topic : topics)
    if (options.topic == topic.name) {
      line.console.result(topic.text(line.root()));
      return ExitCode::success;
    }
  if (const CLI::App* command = command_named(line.root(), options.topic); command != nullptr) {
    line.console.result(command->help());
    return ExitCode::success;
  }
  std::vector<std::string> known;
  for (const auto& topic : topics) known.emplace_back(topic.name);
  for (const CLI::App* command : line.root().get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  throw base::Error(base::Fault::usage, fmt::format("there is no help on \"{}\"{}; `cudal1 help` lists the topics",
                                                    options.topic, did_you_mean(options.topic, known)));
}

}  // namespace

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const auto& topic : topics) names.emplace_back(topic.name);
  return names;
}

void add_help(CommandLine& line) {
  auto options = std::make_shared<HelpOptions>();
  Arguments app = line.add("help", "Show the help of a command or a topic: kernel-file, torch, exit-codes, environment", surroundings_group,
                           [options, &line] { return run_help(*options, line); });
  line.forgive_settings(app);
  app.add_option("TOPIC", options->topic, "A topic or a command");
}

}  // namespace cudal1::cli
