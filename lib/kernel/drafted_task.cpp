// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafted_task.hpp"

#include "kernel/directives.hpp"
#include "kernel/names.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

bool is_used(const DraftedTask& task, const std::string& size) {
  const auto holds = [&](std::string_view text) {
    const auto words = lex_code(text);
    return std::any_of(words.begin(), words.end(), [&](const SourceToken& word) { return word.is(size); });
  };
  return std::any_of(task.launches.begin(), task.launches.end(), [&](const auto& step) { return holds(step.first); }) ||
         std::any_of(task.buffers.begin(), task.buffers.end(), [&](const DraftedBuffer& b) { return b.shape && holds(*b.shape); }) ||
         std::any_of(task.sizes.begin(), task.sizes.end(),
                     [&](const auto& other) { return !other.second.empty() && holds(other.second.text()); });
}

void write_sizes(DraftedTask& task, std::string& out) {
  std::vector<std::string> known, unknown = task.unvalued_sizes;
  for (const auto& [name, value] : task.sizes) {
    if (!is_used(task, name)) continue;  // met in a host expression that came to nothing
    if (value.empty()) unknown.push_back(name);
    else known.push_back(fmt::format("{} = {}", name, value.text()));
  }
  if (!known.empty()) print_line(out, "size", fmt::format("{}", fmt::join(known, ", ")));
  if (unknown.empty()) return;
  std::vector<std::string> parts;
  for (const std::string& name : unknown) parts.push_back(name + " = <value>");
  print_line(out, "#", fmt::format("to complete: size {}", fmt::join(parts, ", ")));
  task.note(fmt::format("sizes {}: give values", fmt::join(unknown, ", ")));
}

void write_buffers(DraftedTask& task, std::string& out) {
  // With one size and no allocation in sight, an elementwise kernel is the likely case.
  std::vector<std::string> sizes = task.unvalued_sizes;
  for (const auto& [name, value] : task.sizes)
    if (is_used(task, name)) sizes.push_back(name);
  for (const DraftedBuffer& buffer : task.buffers) {
    const std::string_view word = buffer.scratch ? "scratch" : buffer.input && buffer.output ? "inout" : buffer.output ? "output" : "input";
    std::optional<std::string> shape = buffer.shape;
    if (!shape && sizes.size() == 1) {
      shape = "[" + sizes[0] + "]";
      task.note(fmt::format("shape of {}: guessed as {}", buffer.name, *shape));
    }
    if (shape) {
      print_line(out, word, fmt::format("{}: {}{}", buffer.name, tensor::name(buffer.dtype), *shape));
    } else {
      print_line(out, "#", fmt::format("to complete: {} {}: {}[<shape>]", word, buffer.name, tensor::name(buffer.dtype)));
      task.note(fmt::format("shape of {}: give its extents", buffer.name));
    }
  }
}

}  // namespace

void DraftedTask::note(std::string text) {
  if (std::find(to_complete.begin(), to_complete.end(), text) == to_complete.end()) to_complete.push_back(std::move(text));
}

std::string draft_directives(DraftedTask& task, const std::string& name) {
  std::string word;
  for (const char c : std::filesystem::path(name).stem().string()) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) || !reserved_for(word).empty()) word = "task_" + word;
  std::string out;
  print_line(out, "task", word);
  write_sizes(task, out);
  for (const DraftedScalar& scalar : task.scalars) {
    const std::string head = fmt::format("{}: {} = ", scalar.name, tensor::name(scalar.dtype));
    if (scalar.value.empty()) {
      print_line(out, "#", "to complete: scalar " + head + "<value>");
      task.note(fmt::format("scalar {}: give its value", scalar.name));
    } else {
      print_line(out, "scalar", head + scalar.value);
    }
  }
  write_buffers(task, out);
  for (const auto& [text, complete] : task.launches) {
    if (complete) print_line(out, "launch", text);
    else print_line(out, "#", "to complete: launch " + text);
  }
  return out;
}

}  // namespace cudal1::kernel
