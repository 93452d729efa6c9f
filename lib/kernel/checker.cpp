// SPDX-License-Identifier: Apache-2.0
#include "kernel/checker.hpp"

#include "base/text.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/directives.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// Without its quotes; empty where it is no path.
std::string_view path_of(std::string_view text) {
  text = base::trim(text);
  if (text.size() < 3 || text.front() != '"' || text.find('"', 1) != text.size() - 1) return {};
  return text.substr(1, text.size() - 2);
}

std::vector<std::pair<std::string, Place>> lines_of(const File& task) {
  std::vector<std::pair<std::string, Place>> result;
  for (const DirectiveLine& line : directive_lines(task.source)) {
    const FirstWord first = first_word(line);
    if (first.text == "checker") result.push_back({line.text.substr(first.end), Place{line.line, first.column}});
  }
  return result;
}

}  // namespace

// What it says is read again where it is used: the structure of a file has no place for it.
void parse_checker(Directive& directive, File& file, OpenPlan&) {
  if (path_of(directive.raw).empty())
    directive.tokens.fail("expected a quoted path after `checker`", "write //@ checker \"right.py\", or the path of a program");
  const auto all = lines_of(file);
  if (all.size() > 1 && all.front().second.line < directive.place.line)
    directive.tokens.fail("a second checker", fmt::format("the first is on line {}", all.front().second.line));
}

void print_checker(const File& file, std::string& out) {
  for (const auto& [text, place] : lines_of(file)) print_line(out, "checker", base::trim(text));
}

std::optional<Checker> checker(const File& task) {
  for (const auto& [text, place] : lines_of(task)) {
    const std::filesystem::path path(path_of(text));
    if (path.empty()) continue;
    return Checker{path.is_absolute() ? path : std::filesystem::path(task.name).parent_path() / path, place};
  }
  return std::nullopt;
}

}  // namespace cudal1::kernel
