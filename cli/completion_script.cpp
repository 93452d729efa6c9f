// SPDX-License-Identifier: Apache-2.0
#include "completion_script.hpp"

#include "gpu_records.hpp"
#include "help.hpp"
#include "model_options.hpp"


#include <cctype>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

struct Completed {
  std::vector<std::string> names;  // "-o", "--output"
  std::string description;
  bool takes_value = false;
  std::vector<std::string> words;  // of the value, when it is one of a few
  bool file = false;               // the value is a path
};

// One command: "", "optimize", "config show".
struct Command {
  std::string path, description;
  std::vector<std::string> commands;  // below it
  std::vector<std::string> words;     // what its argument may be, when it is one of a few
  enum class Argument { any_file, task, folder } argument = Argument::any_file;
  std::vector<Completed> options;
};

// "auto|cuda:N|sim" → auto, cuda:, sim; a word without fixed beginning gives none.
std::vector<std::string> fixed_words(std::string_view text) {
  std::vector<std::string> words;
  if (text.find('|') == std::string_view::npos) return words;
  while (!text.empty()) {
    const auto end = std::min(text.find('|'), text.size());
    std::string word;
    for (const char c : text.substr(0, end)) {
      if (std::isupper(static_cast<unsigned char>(c))) break;
      word += c;
    }
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Values of an option whose own text does not list them.
std::vector<std::string> known_values(const CLI::Option& option) {
  const std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
  std::vector<std::string> words;
  if (name == "gpu") for (const GpuRecord& record : gpu_records()) words.push_back(record.name);
  if (name == "baseline") words = {"best", "eager", "cudnn.benchmark", "compile", "max-autotune", "reduce-overhead", "graph"};
  if (name == "model") {
    for (const model::Provider& provider : all_providers(nullptr)) words.push_back(provider.prefix);
  }
  return words;
}

Completed completed(const CLI::Option& option) {
  Completed result;
  for (const auto& name : option.get_snames()) result.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) result.names.push_back("--" + name);
  result.description = option.get_description();
  result.takes_value = option.get_items_expected_max() > 0;
  result.words = fixed_words(option.get_option_text());
  if (result.words.empty()) result.words = known_values(option);
  result.file = option.get_option_text() == "FILE" || option.get_option_text() == "DIR";
  return result;
}

// Topics, and the commands beside `help`.
std::vector<std::string> help_topics(const CLI::App& help) {
  std::vector<std::string> words = topic_names();
  for (const CLI::App* command : help.get_parent()->get_subcommands([](const CLI::App*) { return true; })) words.push_back(command->get_name());
  return words;
}

std::vector<Completed> options_of(const CLI::App& command) {
  std::vector<Completed> options;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options([](const CLI::Option*) { return true; })) {
      const bool of_the_root_alone = option == app->get_version_ptr() || option == app->get_help_ptr();
      if (!option->get_positional() && (app == &command || !of_the_root_alone)) options.push_back(completed(*option));
    }
  return options;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
  Command command{path, app.get_description(), {}, {}, Command::Argument::any_file, options_of(app)};
  if (path == "completion") command.words = {"bash", "zsh", "fish"};
  if (path == "help") command.words = help_topics(app);
  for (const std::string_view one : {"optimize", "verify", "bench", "prompt", "compile", "init"})
    if (path == one) command.argument = Command::Argument::task;
  for (const std::string_view one : {"report", "runs", "sweep"})
    if (path == one) command.argument = Command::Argument::folder;
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) command.commands.push_back(sub->get_name());
  all.push_back(command);
  for (const CLI::App* sub : below) collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), all);
}

std::string bash(const std::vector<Command>& commands) {
  std::string text = R"(# bash completion of cudal1, written by `cudal1 completion bash`
_cudal1() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="" word i
  # A word break at "=" and ":" leaves the option and the first half of its value as words of their own.
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    case "$command|$word" in
)";
  for (const auto& command : commands)
    for (const auto& sub : command.commands)
      text += fmt::format("      \"{}|{}\") command=\"{}\" ;;\n", command.path, sub,
                          command.path.empty() ? sub : command.path + " " + sub);
  text += R"(    esac
  done
  case "$command $previous" in
)";
  for (const auto& command : commands)
    for (const auto& option : command.options) {
      if (!option.takes_value) continue;
      std::string pattern;
      for (const auto& name : option.names)
        pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "" : "|", command.path, name);
      const std::string reply = option.file            ? "compgen -f -- \"$current\""
                                : option.words.empty() ? ""
                                                       : fmt::format("compgen -W \"{}\" -- \"$current\"",
                                                                     fmt::join(option.words, " "));
      text += reply.empty() ? fmt::format("    {}) COMPREPLY=(); return ;;\n", pattern)
                            : fmt::format("    {}) mapfile -t COMPREPLY < <({}); return ;;\n", pattern, reply);
    }
  text += "  esac\n  case \"$command\" in\n";
  for (const auto& command : commands) {
    std::vector<std::string> names;
    for (const auto& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
    const char* const argument = command.argument == Command::Argument::task ? "task" : command.argument == Command::Argument::folder ? "folder" : "file";
    text += fmt::format("    \"{}\") local options=\"{}\" commands=\"{}\" argument={} ;;\n", command.path, fmt::join(names, " "),
                        fmt::join(command.commands.empty() ? command.words : command.commands, " "), argument);
  }
  text += R"(  esac
  if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $commands ]]; then mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif [[ $argument == folder ]]; then mapfile -t COMPREPLY < <(compgen -d -- "$current")
  elif [[ $argument == task ]]; then
    mapfile -t COMPREPLY < <(compgen -f -X '!*.cu' -- "$current"; compgen -f -X '!*.py' -- "$current"; compgen -d -- "$current")
  else mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi
}
complete -o filenames -F _cudal1 cudal1
)";
  return text;
}

// For a single-quoted word inside a description in brackets.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') result += '\\';
    if (c == '\'') result += "'\\'";
    result += c;
  }
  return result;
}

std::string zsh_function(const Command& command, const std::vector<Command>& all) {
  std::string name = "_cudal1";
  for (const char c : command.path.empty() ? "" : "_" + command.path) name += c == ' ' ? '_' : c;
  std::string text = fmt::format("{}() {{\n  local context state line\n  _arguments -C \\\n", name);
  for (const auto& option : command.options)
    for (const auto& option_name : option.names) {
      std::string value;
      if (option.file) value = ":file:_files";
      else if (!option.words.empty()) value = fmt::format(":value:({})", zsh_text(fmt::format("{}", fmt::join(option.words, " "))));
      else if (option.takes_value) value = ":value: ";
      text += fmt::format("    '{}[{}]{}' \\\n", option_name, zsh_text(option.description), value);
    }
  if (command.commands.empty()) {
    if (!command.words.empty()) return text + fmt::format("    '1:value:({})'\n}}\n", fmt::join(command.words, " "));
    const char* const files = command.argument == Command::Argument::task     ? "_files -g \"*.(cu|py)\""
                              : command.argument == Command::Argument::folder ? "_files -/"
                                                                              : "_files";
    return text + fmt::format("    '*:file:{}'\n}}\n", files);
  }
  std::string described;
  for (const auto& sub : command.commands)
    for (const auto& other : all)
      if (other.path == (command.path.empty() ? sub : command.path + " " + sub)) described += fmt::format(" {}\\:\"{}\"", sub, zsh_text(other.description));
  text += fmt::format("    '1:command:(({}))' \\\n    '*::argument:->argument'\n", described);
  text += "  case $state in argument) case $words[1] in\n";
  for (const auto& sub : command.commands) text += fmt::format("    {}) {}_{} ;;\n", sub, name, sub);
  return text + "  esac ;; esac\n}\n";
}

std::string zsh(const std::vector<Command>& commands) {
  std::string text = "#compdef cudal1\n# zsh completion of cudal1, written by `cudal1 completion zsh`\n";
  for (const auto& command : commands) text += zsh_function(command, commands);
  return text + "if [ \"$funcstack[1]\" = _cudal1 ]; then _cudal1 \"$@\"; else compdef _cudal1 cudal1; fi\n";
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_condition(const Command& command) {
  std::string seen;
  std::string_view rest = command.path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (command.commands.empty()) return seen;
  const auto none_below = fmt::format("not __fish_seen_subcommand_from {}", fmt::join(command.commands, " "));
  return seen.empty() ? none_below : seen + "; and " + none_below;
}

std::string fish(const std::vector<Command>& commands) {
  std::string text = "# fish completion of cudal1, written by `cudal1 completion fish`\n";
  for (const auto& command : commands) {
    const auto condition = fish_quoted(fish_condition(command));
    for (const auto& sub : command.commands)
      for (const auto& other : commands)
        if (other.path == (command.path.empty() ? sub : command.path + " " + sub))
          text += fmt::format("complete -c cudal1 -n {} -f -a {} -d {}\n", condition, sub, fish_quoted(other.description));
    if (!command.words.empty()) text += fmt::format("complete -c cudal1 -n {} -f -a {}\n", condition, fish_quoted(fmt::format("{}", fmt::join(command.words, " "))));
    for (const auto& option : command.options) {
      text += fmt::format("complete -c cudal1 -n {}", condition);
      for (const auto& name : option.names)
        text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
      if (option.file) text += " -r -F";
      else if (!option.words.empty()) text += fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
      else if (option.takes_value) text += " -x";
      text += fmt::format(" -d {}\n", fish_quoted(option.description));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& root, const std::string& shell) {
  std::vector<Command> commands;
  collect(root, "", commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return bash(commands);
}

}  // namespace cudal1::cli
