// SPDX-License-Identifier: Apache-2.0
#include "kernel/directives.hpp"
#include "kernel/expression_node.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

void print_assignments(std::string& out, std::string_view word, const std::vector<SizeLine>& lines) {
  for (const SizeLine& line : lines) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : line.values) parts.push_back(fmt::format("{} = {}", name, value.text()));
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (line.weight != 1) text += fmt::format(" weight {}", line.weight);
    print_line(out, word, text);
  }
}

std::string dim_text(const Dim3Expression& dim, std::string_view constructor) {
  std::string text = dim.x.text();
  if (!dim.y.empty()) text += ", " + dim.y.text();
  if (!dim.z.empty()) text += ", " + dim.z.text();
  return dim.y.empty() && constructor == "dim3" ? text : fmt::format("{}({})", constructor, text);
}

void print_steps(std::string& out, const std::vector<Step>& steps, const std::string& indent) {
  for (const Step& step : steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step.step)) {
      print_line(out, indent + "launch", launch_text(*launch));
    } else if (const auto* memset = std::get_if<MemsetStep>(&step.step)) {
      print_line(out, indent + "memset", fmt::format("{} = {}", memset->buffer, memset->value));
    } else if (const auto* copy = std::get_if<CopyStep>(&step.step)) {
      print_line(out, indent + "copy", fmt::format("{} = {}", copy->variable, copy->buffer));
    } else {
      const auto& repeat = std::get<RepeatStep>(step.step);
      if (repeat.variable.empty()) print_line(out, indent + "when", fmt::format("{} {{", repeat.from.text()));
      else print_line(out, indent + "for", fmt::format("{} in {}..{} {{", repeat.variable, repeat.from.text(), repeat.to.text()));
      print_steps(out, repeat.body, indent + "  ");
      print_line(out, indent + "}", "");
    }
  }
}

std::string_view role_word(Buffer::Role role) {
  return role == Buffer::Role::input ? "input" : role == Buffer::Role::output ? "output" : "inout";
}

}  // namespace

void print_line(std::string& out, std::string_view word, std::string_view text) {
  out += text.empty() ? fmt::format("//@ {}\n", word) : fmt::format("//@ {:<7} {}\n", word, text);
}

std::string launch_text(const LaunchStep& launch) {
  std::string text = fmt::format("{}<<<{}, {}", launch.kernel, dim_text(launch.grid, "dim3"), dim_text(launch.block, "dim3"));
  if (!launch.shared_bytes.empty()) text += ", " + launch.shared_bytes.text();
  std::vector<std::string> arguments;
  for (const Expression& argument : launch.arguments) arguments.push_back(argument.text());
  text += fmt::format(">>>({})", fmt::join(arguments, ", "));
  if (launch.cooperative) text += " cooperative";
  if (!launch.cluster.x.empty()) text += " " + dim_text(launch.cluster, "cluster");
  return text;
}

void print_task(const File& file, std::string& out) {
  if (!file.task.empty()) print_line(out, "task", file.task);
}
void print_torch(const File& file, std::string& out) {
  if (file.torch) print_line(out, "torch", file.torch->first);
}
void print_sizes(const File& file, std::string& out) { print_assignments(out, "size", file.sizes); }
void print_checks(const File& file, std::string& out) { print_assignments(out, "check", file.checks); }
void print_scalars(const File& file, std::string& out) {
  for (const Scalar& scalar : file.scalars)
    print_line(out, "scalar", fmt::format("{}: {} = {}", scalar.name, tensor::name(scalar.dtype), scalar.value.text()));
}
void print_structures(const File& file, std::string& out) {
  for (const Structure& structure : file.structures) {
    std::vector<std::string> members;
    for (const Structure::Member& member : structure.members)
      members.push_back(fmt::format("{}: {}{} at {}", member.name, tensor::name(member.dtype), member.count > 0 ? fmt::format("[{}]", member.count) : "", member.offset));
    print_line(out, "struct", fmt::format("{} = {} bytes {}", structure.name, fmt::join(members, ", "), structure.bytes));
  }
}

namespace {

// All members of one memory on one line, where the first of them stands.
void print_members(std::string& out, const File& file, std::size_t first) {
  const Buffer& buffer = file.buffers[first];
  if (first > 0 && file.buffers[first - 1].within.stride != 0 && file.buffers[first - 1].within.memory == buffer.within.memory) return;
  std::vector<Expression> shape = buffer.shape;
  for (const Structure& structure : file.structures)
    if (structure.name == buffer.within.structure && structure.members.front().count > 0) shape.pop_back();
  std::vector<std::string> values;
  for (const Buffer& member : file.buffers)
    if (member.within.memory == buffer.within.memory && member.within.stride != 0 && member.distribution)
      values.push_back(fmt::format("{}: {}", member.name.substr(buffer.within.memory.size() + 1), tensor::to_string(*member.distribution)));
  std::string text = fmt::format("{}: {}{}", buffer.within.memory, buffer.within.structure, shape_text(shape));
  if (!values.empty()) text += fmt::format(" ~ {}", fmt::join(values, ", "));
  print_line(out, role_word(buffer.role), text);
}

}  // namespace

void print_buffers(const File& file, std::string& out) {
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    const Buffer& buffer = file.buffers[i];
    if (buffer.within.stride != 0) {
      print_members(out, file, i);
      continue;
    }
    std::string text = fmt::format("{}: {}{}", buffer.name, tensor::name(buffer.dtype), shape_text(buffer.shape));
    if (buffer.distribution) text += " ~ " + tensor::to_string(*buffer.distribution);
    print_line(out, role_word(buffer.role), text);
  }
}
void print_tolerances(const File& file, std::string& out) {
  for (const Tolerance& tolerance : file.tolerances) {
    const std::string name = tolerance.output.empty() ? "" : tolerance.output + " ";
    if (tolerance.relative == tolerance.absolute)
      print_line(out, "tolerance", fmt::format("{}= {}", name, tolerance.relative));
    else
      print_line(out, "tolerance", fmt::format("{}: relative {} absolute {}", tolerance.output, tolerance.relative, tolerance.absolute));
  }
}
void print_includes(const File& file, std::string& out) {
  for (const std::string& include : file.includes) print_line(out, "include", fmt::format("\"{}\"", include));
}
void print_options(const File& file, std::string& out) {
  for (const std::string& option : file.options) print_line(out, "option", option);
}
void print_of(const File& file, std::string& out) {
  if (file.of) print_line(out, "of", file.of->first + " " + file.of->second);
}
void print_tunables(const File& file, std::string& out) {
  for (const Tunable& tunable : file.tunables) {
    std::string text = fmt::format("{} = {}", tunable.name, fmt::join(tunable.values, " | "));
    if (!tunable.condition.empty()) text += " if " + tunable.condition.text();
    print_line(out, "tune", text);
  }
}
void print_scratches(const File& file, std::string& out) {
  for (const Scratch& scratch : file.scratches) {
    std::string text = fmt::format("{}: {}{}", scratch.name, tensor::name(scratch.dtype), shape_text(scratch.shape));
    if (scratch.initial) text += fmt::format(" = {}", *scratch.initial);
    print_line(out, "scratch", text);
  }
}
void print_plan(const File& file, std::string& out) { print_steps(out, file.plan, ""); }

const std::vector<DirectiveKind>& directive_kinds() {
  static const auto nothing = [](const File&, std::string&) {};
  static const std::vector<DirectiveKind> kinds = {
      // word        raw    interface parse            print
      {"of",        true,  false, parse_of,        print_of},
      {"task",      false, true,  parse_task,      print_task},
      {"torch",     true,  true,  parse_torch,     print_torch},
      {"size",      false, true,  parse_size,      print_sizes},
      {"check",     false, true,  parse_check,     print_checks},
      {"scalar",    false, true,  parse_scalar,    print_scalars},
      {"struct",    false, true,  parse_struct,    print_structures},
      {"input",     false, true,  parse_buffer,    print_buffers},
      {"inout",     false, true,  parse_buffer,    nothing},
      {"output",    false, true,  parse_buffer,    nothing},
      {"tolerance", false, true,  parse_tolerance, print_tolerances},
      {"expect",    false, true,  parse_expect,    print_expectations},
      {"checker",   true,  true,  parse_checker,   print_checker},
      {"include",   true,  true,  parse_include,   print_includes},
      {"option",    true,  true,  parse_option,    print_options},
      {"tune",      false, false, parse_tune,      print_tunables},
      {"scratch",   false, false, parse_scratch,   print_scratches},
      {"for",       false, false, parse_for,       print_plan},
      {"when",      false, false, parse_when,      nothing},
      {"launch",    false, false, parse_launch,    nothing},
      {"memset",    false, false, parse_memset,    nothing},
      {"copy",      false, false, parse_copy,      nothing},
      {"}",         false, false, parse_close,     nothing},
  };
  return kinds;
}

const DirectiveKind* find_directive(std::string_view word) {
  for (const DirectiveKind& kind : directive_kinds())
    if (kind.word == word) return &kind;
  return nullptr;
}

std::string print(const File& file) {
  std::string out;
  for (const DirectiveKind& kind : directive_kinds()) kind.print(file, out);
  return out;
}

}  // namespace cudal1::kernel
