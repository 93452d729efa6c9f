// SPDX-License-Identifier: Apache-2.0
#include "record/task.hpp"

#include "tensor/npy.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::record {

bool all_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

namespace {

using Role = kernel::Buffer::Role;

std::string_view as_text(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string_view role_word(Role role) { return role == Role::input ? "input" : role == Role::output ? "output" : "inout"; }

// "Body = position: float32[3] at 0, id: int32 at 12 bytes 16"
std::string structure_text(const kernel::Structure& structure) {
  std::vector<std::string> members;
  for (const auto& member : structure.members)
    members.push_back(fmt::format("{}: {}{} at {}", member.name, tensor::name(member.dtype), member.count > 0 ? fmt::format("[{}]", member.count) : "", member.offset));
  return fmt::format("{} = {} bytes {}", structure.name, fmt::join(members, ", "), structure.bytes);
}

// What a task calls the arrays that a buffer is made of: itself, or its members.
std::vector<std::string> parts_of(const RecordedTask::Buffer& buffer) {
  if (!buffer.structure) return {buffer.name};
  std::vector<std::string> parts;
  for (const auto& member : buffer.structure->members) parts.push_back(fmt::format("{}.{}", buffer.name, member.name));
  return parts;
}

// "bodies: Body[4] ~ position: file("task.bodies.position.npy"), id: zeros"
std::string structures_text(const RecordedTask& task, const RecordedTask::Buffer& buffer) {
  std::string text = fmt::format("{}: {}[{}]", buffer.name, buffer.structure->name, buffer.bytes / buffer.structure->bytes);
  if (buffer.role == Role::output) return text;
  for (std::size_t i = 0; i < buffer.structure->members.size(); ++i) {
    const std::string& member = buffer.structure->members[i].name;
    text += fmt::format("{}{}: {}", i == 0 ? " ~ " : ", ", member,
                        all_zero(member_bytes(*buffer.structure, i, buffer.memory->before)) ? "zeros" : fmt::format("file(\"{}.{}.{}.npy\")", task.name, buffer.name, member));
  }
  return text;
}

}  // namespace

Bytes member_bytes(const kernel::Structure& structure, std::size_t member, std::span<const std::byte> bytes) {
  const auto& one = structure.members[member];
  const std::size_t width = tensor::size_of(one.dtype) * static_cast<std::size_t>(std::max<std::int64_t>(1, one.count));
  Bytes out;
  out.reserve(bytes.size() / structure.bytes * width);
  for (std::size_t at = one.offset; at + width <= bytes.size(); at += structure.bytes) out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  return out;
}

std::string RecordedTask::text() const {
  std::string out = origin.empty() ? "" : fmt::format("// {}\n", origin);
  const auto line = [&](std::string_view word, std::string_view rest) { out += fmt::format("//@ {:<7} {}\n", word, rest); };
  line("task", name);
  for (const Scalar& scalar : scalars) line("scalar", fmt::format("{}: {} = {}", scalar.name, tensor::name(scalar.dtype), scalar.value));
  std::set<std::string> structures;
  for (const Buffer& buffer : buffers)
    if (buffer.structure && structures.insert(buffer.structure->name).second) line("struct", structure_text(*buffer.structure));
  for (const Buffer& buffer : buffers) {
    if (buffer.structure) {
      line(role_word(buffer.role), structures_text(*this, buffer));
      continue;
    }
    std::string declaration = fmt::format("{}: {}[{}]", buffer.name, tensor::name(buffer.dtype), buffer.bytes / tensor::size_of(buffer.dtype));
    if (buffer.role != Role::output)
      declaration += all_zero(buffer.memory->before) ? " ~ zeros" : fmt::format(" ~ file(\"{}.{}.npy\")", name, buffer.name);
    line(role_word(buffer.role), declaration);
  }
  for (const Buffer& buffer : buffers)
    for (const std::string& part : parts_of(buffer))
      if (buffer.role != Role::input) line("expect", fmt::format("{0} = file(\"{1}.{0}.expected.npy\")", part, name));
  for (const std::string& folder : includes) line("include", fmt::format("\"{}\"", folder));
  for (const std::string& option : options) line("option", option);
  for (const std::string& launch : launches) line("launch", launch);
  return out + "\n" + code;
}

namespace {

void add_members(std::map<std::string, std::string>& files, const RecordedTask& task, const RecordedTask::Buffer& buffer) {
  for (std::size_t i = 0; i < buffer.structure->members.size(); ++i) {
    const auto& member = buffer.structure->members[i];
    std::vector<std::int64_t> shape = {static_cast<std::int64_t>(buffer.bytes / buffer.structure->bytes)};
    if (member.count > 0) shape.push_back(member.count);
    const std::string file = fmt::format("{}.{}.{}", task.name, buffer.name, member.name);
    const Bytes before = member_bytes(*buffer.structure, i, buffer.memory->before), after = member_bytes(*buffer.structure, i, buffer.memory->after);
    if (buffer.role != Role::output && !all_zero(before)) files[file + ".npy"] = tensor::write_npy(member.dtype, shape, as_text(before));
    if (buffer.role != Role::input) files[file + ".expected.npy"] = tensor::write_npy(member.dtype, shape, as_text(after));
  }
}

}  // namespace

std::map<std::string, std::string> RecordedTask::arrays() const {
  std::map<std::string, std::string> files;
  for (const Buffer& buffer : buffers) {
    if (buffer.structure) {
      add_members(files, *this, buffer);
      continue;
    }
    const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(buffer.bytes / tensor::size_of(buffer.dtype))};
    if (buffer.role != Role::output && !all_zero(buffer.memory->before))
      files[fmt::format("{}.{}.npy", name, buffer.name)] = tensor::write_npy(buffer.dtype, shape, as_text(buffer.memory->before));
    if (buffer.role != Role::input)
      files[fmt::format("{}.{}.expected.npy", name, buffer.name)] = tensor::write_npy(buffer.dtype, shape, as_text(buffer.memory->after));
  }
  return files;
}

}  // namespace cudal1::record
