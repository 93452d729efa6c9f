// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafted_task.hpp"

#include "kernel/directives.hpp"
#include "kernel/drafted_shape.hpp"
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

// How many sizes multiply in the largest buffer that this one is an extent of.
int factors_of(const DraftedTask& task, const std::string& size) {
  int most = 1;
  for (const auto& [name, value] : task.sizes) {
    if (value.empty()) continue;
    const auto names = value.names();
    if (std::find(names.begin(), names.end(), size) == names.end()) continue;
    most = std::max({most, static_cast<int>(names.size()), name == size ? 1 : factors_of(task, name) > 1 ? static_cast<int>(names.size()) + 1 : 1});
  }
  for (const DraftedBuffer& buffer : task.buffers) {
    if (!buffer.shape) continue;
    const auto words = lex_code(*buffer.shape);
    if (std::none_of(words.begin(), words.end(), [&](const SourceToken& word) { return word.is(size); })) continue;
    int sizes = 0;
    for (const SourceToken& word : words) sizes += word.kind == SourceToken::Kind::identifier && word.text != "max" && word.text != "ceil_div" && word.text != "min" ? 1 : 0;
    most = std::max(most, sizes);
  }
  return most;
}

// As one reads the buffers' shapes, then the launches, and not by name: rows before columns.
void put_in_order(const DraftedTask& task, std::vector<std::string>& sizes) {
  std::string text;
  for (const DraftedBuffer& buffer : task.buffers) text += buffer.shape.value_or("") + "\n";
  for (const auto& [launch, complete] : task.launches) text += launch + "\n";
  const std::vector<SourceToken> words = lex_code(text);
  const auto place = [&](const std::string& size) { return std::find_if(words.begin(), words.end(), [&](const SourceToken& word) { return word.is(size); }); };
  std::stable_sort(sizes.begin(), sizes.end(), [&](const auto& left, const auto& right) { return place(left) < place(right); });
}

constexpr const char* guess_mark = "  // guessed";

void write_sizes(DraftedTask& task, std::string& out) {
  std::vector<std::string> known, valued, guessed = task.unvalued_sizes;
  for (const auto& [name, value] : task.sizes)
    if (is_used(task, name)) (value.empty() ? guessed : valued).push_back(name);  // others were met in a host expression that came to nothing
  put_in_order(task, valued);
  put_in_order(task, guessed);
  for (const std::string& name : valued) known.push_back(fmt::format("{} = {}", name, task.sizes.at(name).text()));
  if (!known.empty()) print_line(out, "size", fmt::format("{}", fmt::join(known, ", ")));
  if (guessed.empty()) return;
  std::vector<std::string> values, smaller;
  bool varied = false;
  for (const std::string& name : guessed) {
    const std::int64_t value = guessed_size(name, factors_of(task, name));
    values.push_back(fmt::format("{} = {}", name, value));
    // Small and no power of two, but whole vectors and tiles: what a kernel asks of its sizes is not known.
    const std::int64_t check = value >= 256 ? (value >= 4096 ? 1088 : 192) : value;
    varied |= check != value;
    smaller.push_back(fmt::format("{} = {}", name, check));
  }
  print_line(out, "size", fmt::format("{}{}", fmt::join(values, ", "), guess_mark));
  if (varied) print_line(out, "check", fmt::format("{}{}", fmt::join(smaller, ", "), guess_mark));
  task.guessed.push_back(fmt::format("sizes {}: give those that matter", fmt::join(guessed, ", ")));
}

// What is said of all of a buffer holds for each member of its structures.
std::string values_of_members(const DraftedTask& task, const DraftedBuffer& buffer) {
  std::vector<std::string> parts;
  for (const Structure& structure : task.structures)
    if (structure.name == buffer.structure)
      for (const Structure::Member& member : structure.members) parts.push_back(fmt::format("{}: {}", member.name, buffer.values));
  return fmt::format(" ~ {}", fmt::join(parts, ", "));
}

void write_buffers(DraftedTask& task, std::string& out) {
  // With one size and no allocation in sight, an elementwise kernel is the likely case.
  std::vector<std::string> sizes = task.unvalued_sizes;
  for (const auto& [name, value] : task.sizes)
    if (is_used(task, name)) sizes.push_back(name);
  for (const DraftedBuffer& buffer : task.buffers) {
    const std::string_view word = buffer.scratch ? "scratch" : buffer.input && buffer.output ? "inout" : buffer.output ? "output" : "input";
    std::optional<std::string> shape = buffer.shape;
    bool guessed = buffer.guessed;
    if (!shape && sizes.size() == 1) {
      shape = "[" + sizes[0] + "]";
      guessed = true;
    }
    if (!shape) {
      print_line(out, "#", fmt::format("to complete: {} {}: {}[<shape>]", word, buffer.name, tensor::name(buffer.dtype)));
      task.note(fmt::format("shape of {}: give its extents", buffer.name));
      continue;
    }
    if (buffer.width > 1) shape = fmt::format("{}, {}]", shape->substr(0, shape->size() - 1), buffer.width);
    std::string values = buffer.values.empty() || buffer.scratch || !buffer.input ? "" : " ~ " + buffer.values;
    if (!values.empty() && !buffer.structure.empty()) values = values_of_members(task, buffer);
    print_line(out, word, fmt::format("{}: {}{}{}{}", buffer.name, buffer.structure.empty() ? tensor::name(buffer.dtype) : std::string_view(buffer.structure), *shape, values, guessed ? guess_mark : ""));
    if (guessed) task.guessed.push_back(fmt::format("{}: {}", buffer.name, *shape));
  }
}

}  // namespace

void DraftedTask::note(std::string text) {
  if (std::find(to_complete.begin(), to_complete.end(), text) == to_complete.end()) to_complete.push_back(std::move(text));
}

void DraftedTask::remark(std::string text) {
  if (std::find(remarks.begin(), remarks.end(), text) == remarks.end()) remarks.push_back(std::move(text));
}

std::string draft_directives(DraftedTask& task, const std::string& name) {
  std::string word;
  for (const char c : std::filesystem::path(name).stem().string()) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) || !reserved_for(word).empty()) word = "task_" + word;
  std::string out;
  print_line(out, "task", word);
  write_sizes(task, out);
  for (const DraftedScalar& scalar : task.scalars) {
    print_line(out, "scalar", fmt::format("{}: {} = {}{}", scalar.name, tensor::name(scalar.dtype), scalar.value, scalar.guessed ? guess_mark : ""));
    if (scalar.guessed) task.guessed.push_back(fmt::format("scalar {}: {}", scalar.name, scalar.value));
  }
  File structures;
  structures.structures = task.structures;
  print_structures(structures, out);
  write_buffers(task, out);
  for (const auto& [variable, buffer] : task.copies) print_line(out, "copy", fmt::format("{} = {}", variable, buffer));
  for (const auto& [text, complete] : task.launches) {
    if (complete) print_line(out, "launch", text);
    else print_line(out, "#", "to complete: launch " + text);
  }
  return out;
}

}  // namespace cudal1::kernel
