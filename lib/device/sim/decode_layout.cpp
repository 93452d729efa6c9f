// SPDX-License-Identifier: Apache-2.0
// Where parameters, shared and local variables lie, and which registers statements read and write.
#include "sim/decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

// Whether a statement's first operand is a register that it writes. A cp. instruction has an address there,
// and a call may have one.
bool writes_first(const Statement& statement) {
  const std::string& opcode = statement.opcode;
  return !opcode.starts_with("st") && !opcode.starts_with("red.") && !opcode.starts_with("cp.") && !opcode.starts_with("call");
}

}  // namespace

void Decoder::layout_parameters() {
  std::uint32_t offset = 0;
  for (const Variable& parameter : entry_.parameters) {
    const auto align = static_cast<std::uint32_t>(parameter.align);
    offset = (offset + align - 1) / align * align;
    program_.parameter_offsets.push_back(offset);
    parameter_offsets_[parameter.name] = offset;
    offset += static_cast<std::uint32_t>(parameter.bytes);
    if (offset > 32764) refuse("a kernel has more than 32764 bytes of parameters");
  }
  program_.parameter_variables = entry_.parameters;
  program_.parameter_bytes = offset;
}

void Decoder::layout(FunctionState& state) {
  const Function& function = *state.function;
  const auto place_shared = [&](const Variable& variable) {
    if (variable.external) {
      program_.dynamic_align = std::max(program_.dynamic_align, variable.align);
      return;
    }
    std::size_t& end = program_.shared_bytes;
    end = (end + variable.align - 1) / variable.align * variable.align;
    shared_offsets_.emplace(variable.name, end);
    end += variable.bytes;
  };
  const auto place_local = [&](const Variable& variable) {
    if (state.recursive() && variable.space == Space::local) {
      std::size_t& end = program_.frame_bytes;
      end = (end + variable.align - 1) / variable.align * variable.align;
      state.framed[variable.name] = end;
      end += variable.bytes;
      return;
    }
    std::size_t& end = program_.local_bytes;
    const std::size_t align = std::max<std::size_t>(variable.align, 8);
    end = (end + align - 1) / align * align;
    state.local[variable.name] = end;
    end += variable.bytes;
    if (end > largest_local) refuse(fmt::format("{} needs more than {} bytes of local memory", function.name, largest_local));
  };
  if (&function == &entry_)
    for (const Variable& variable : module_.variables)
      if (variable.space == Space::shared) place_shared(variable);
  for (const Variable& variable : function.variables) variable.space == Space::shared ? place_shared(variable) : place_local(variable);
  if (!function.entry)
    for (const auto* list : {&function.parameters, &function.results})
      for (const Variable& variable : *list) place_local(variable);
  state.rows.assign(function.registers.size(), nowhere);
  if (!state.recursive()) return;
  state.saved = static_cast<std::uint32_t>(program_.saved.size());
  program_.saved.emplace_back();
}

void Decoder::count_reads(FunctionState& state) {
  state.reads.assign(state.function->registers.size(), 0);
  state.writes.assign(state.function->registers.size(), 0);
  const auto write = [&](int reg) {
    if (reg >= 0) ++state.writes[static_cast<std::size_t>(reg)];
  };
  const auto read = [&](int reg) {
    if (reg >= 0) ++state.reads[static_cast<std::size_t>(reg)];
  };
  for (const Statement& statement : state.function->body) {
    read(statement.guard);
    const bool writes = writes_first(statement);
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
      const Operand& operand = statement.operands[i];
      const bool target = i == 0 && writes && operand.kind != Operand::Kind::address;
      target ? write(operand.reg) : read(operand.reg);
      if (target) write(operand.second);
      for (const Operand& element : operand.elements) target ? write(element.reg) : read(element.reg);
    }
  }
}

void Decoder::note_registers(const Statement& statement, StatementFacts& facts) const {
  const auto note = [&](std::vector<std::uint32_t>& into, int reg) {
    if (reg >= 0) into.push_back(state_->first_register + static_cast<std::uint32_t>(reg));
  };
  note(facts.reads, statement.guard);
  const bool writes = writes_first(statement);
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    const Operand& operand = statement.operands[i];
    auto& into = i == 0 && writes && operand.kind != Operand::Kind::address ? facts.writes : facts.reads;
    note(into, operand.reg);
    note(into, operand.second);
    for (const Operand& element : operand.elements) note(into, element.reg);
  }
}

}  // namespace cudal1::sim
