// SPDX-License-Identifier: Apache-2.0
// Calls: of functions by name and by address, and of functions that are called again before they have returned.
#include "sim/decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t frames_bytes = std::size_t{16} << 10;  // of all frames of a thread together, as far as that makes so many:
constexpr std::size_t fewest_frames = 32, most_frames = 256;

bool is_builtin(const std::string& name) { return name == "vprintf" || name == "__assertfail"; }

bool is_call(const Statement& statement) { return statement.opcode == "call" || statement.opcode.starts_with("call."); }

const Variable* variable_of(const Function& function, const std::string& name) {
  const auto found = std::find_if(function.variables.begin(), function.variables.end(), [&](const Variable& one) { return one.name == name; });
  return found == function.variables.end() ? nullptr : &*found;
}

}  // namespace

// Functions whose address stands in a variable or an operand.
std::set<std::string> Decoder::addressed() const {
  std::set<std::string> found;
  for (const Variable& variable : module_.variables)
    for (const Variable::Relocation& relocation : variable.relocations) found.insert(relocation.symbol);
  for (const Function& function : module_.functions)
    for (const Statement& statement : function.body)
      for (const Operand& operand : statement.operands)
        if (operand.kind == Operand::Kind::symbol) found.insert(operand.name);
  return found;
}

// What a call may reach: the function that it names; where it has an address, every function that takes and gives as much and whose
// address stands somewhere.
std::vector<const Function*> Decoder::callees(const Function& caller, const Statement& statement) const {
  const Operand& callee = statement.operands.at(0);
  if (callee.kind != Operand::Kind::reg) {
    if (is_builtin(callee.name)) return {};
    const Function* found = module_.function(callee.name);
    if (!found || !found->defined) refuse(fmt::format("sim does not know the function \"{}\"", callee.name));
    return {found};
  }
  const auto fit = [&](const std::vector<std::string>& given, const std::vector<Variable>& asked) {
    return std::equal(given.begin(), given.end(), asked.begin(), asked.end(), [&](const std::string& name, const Variable& variable) {
      const Variable* mine = variable_of(caller, name);
      return mine != nullptr && mine->bytes == variable.bytes;
    });
  };
  std::vector<const Function*> result;
  for (const std::string& name : addressed()) {
    const Function* function = module_.function(name);
    if (function && function->defined && !function->entry && fit(statement.arguments, function->parameters) && fit(statement.results, function->results))
      result.push_back(function);
  }
  return result;
}

void Decoder::collect(const Function& function) {
  if (functions_.contains(function.name)) return;
  functions_[function.name].function = &function;
  order_.push_back(function.name);
  for (const Statement& statement : function.body) {
    lanes_may_wait_ |= may_be_waited_on(statement.opcode);
    if (!is_call(statement)) continue;
    statement_ = &statement;
    for (const Function* callee : callees(function, statement)) {
      functions_.at(function.name).callees.insert(callee->name);
      collect(*callee);
    }
  }
  statement_ = nullptr;
}

// Which functions may be called again before they return: those that reach themselves.
void Decoder::find_recursion() {
  for (const std::string& name : order_) {
    std::set<std::string>& reached = functions_.at(name).reached;
    std::vector<std::string> open{name};
    while (!open.empty()) {
      const std::string from = open.back();
      open.pop_back();
      for (const std::string& callee : functions_.at(from).callees)
        if (reached.insert(callee).second) open.push_back(callee);
    }
  }
}

// Behind what all threads have once: as many frames as fit, each with the local variables of all functions that call themselves.
void Decoder::place_frames() {
  for (const auto& [name, state] : functions_)
    if (state.recursive() && program_.frame_row == nowhere) program_.frame_row = new_row(8);
  if (program_.frame_bytes == 0) return;
  program_.frame_bytes = (program_.frame_bytes + 15) / 16 * 16;
  frames_begin_ = (program_.local_bytes + 15) / 16 * 16;
  program_.frames_bytes = std::clamp(frames_bytes / program_.frame_bytes, fewest_frames, most_frames) * program_.frame_bytes;
  program_.local_bytes = frames_begin_ + program_.frames_bytes;
  if (program_.local_bytes > largest_local) refuse(fmt::format("functions that call themselves need more than {} bytes of local memory", largest_local));
}

// What a function that is called again must find as it was: its registers and its parameters.
void Decoder::note_frame(FunctionState& state) {
  if (!state.recursive()) return;
  SavedRows& saved = program_.saved.at(state.saved);
  for (std::size_t i = 0; i < state.rows.size(); ++i)
    if (state.rows[i] != nowhere) saved.rows.push_back({state.rows[i], state.function->registers[i].element == Element::pred ? 0 : std::max(2u, bytes_of(state.function->registers[i].element))});
  for (const Variable& parameter : state.function->parameters)
    saved.locals.push_back({static_cast<std::uint32_t>(state.local.at(parameter.name)), static_cast<std::uint32_t>(parameter.bytes)});
}

std::size_t Decoder::local_of(const FunctionState& state, const std::string& name) const {
  const auto found = state.local.find(name);
  if (found == state.local.end()) refuse(fmt::format("\"{}\" is not a .param variable", name));
  return found->second;
}

void Decoder::call_builtin(const std::string& callee) {
  if (statement_->arguments.size() < (callee == "vprintf" ? 2u : 3u)) refuse(fmt::format("{} is called with too few arguments", callee));
  Instruction& instruction = emit("_" + callee);
  instruction.immediate = static_cast<std::int64_t>(local_of(*state_, statement_->arguments[0]));
  instruction.extra = static_cast<std::uint32_t>(local_of(*state_, statement_->arguments[1]));
  if (callee == "__assertfail") instruction.list = static_cast<std::uint32_t>(local_of(*state_, statement_->arguments[2]));
  else if (!statement_->results.empty()) instruction.list = static_cast<std::uint32_t>(local_of(*state_, statement_->results[0]));
  else instruction.list = nowhere;
}

void Decoder::call_function(const Function& callee) {
  const FunctionState& target = functions_.at(callee.name);
  const auto copy = [&](std::size_t from, std::size_t to, std::size_t bytes) {
    Instruction& instruction = emit("_copy_local");
    instruction.immediate = static_cast<std::int64_t>(from);
    instruction.extra = static_cast<std::uint32_t>(to);
    instruction.list = static_cast<std::uint32_t>(bytes);
  };
  const auto& parameters = callee.parameters;
  if (statement_->arguments.size() != parameters.size() || statement_->results.size() != callee.results.size())
    refuse(fmt::format("{} is called with another number of arguments than it has", callee.name));
  const bool again = target.reached.contains(state_->function->name);
  const auto frame = [&](const char* operation) {
    if (!again) return;
    Instruction& instruction = emit(operation);
    instruction.a = program_.frame_row;
    instruction.list = state_->saved;
  };
  frame("_save_frame");
  for (std::size_t i = 0; i < parameters.size(); ++i)
    copy(local_of(*state_, statement_->arguments[i]), local_of(target, parameters[i].name), parameters[i].bytes);
  calls_.push_back({static_cast<std::uint32_t>(program_.segments.size() - 1), callee.name});
  end_segment(Segment::End::call);
  begin_segment();
  frame("_restore_frame");
  for (std::size_t i = 0; i < statement_->results.size(); ++i)
    copy(local_of(target, callee.results[i].name), local_of(*state_, statement_->results[i]), callee.results[i].bytes);
}

void Decoder::call() {
  const Operand& callee = statement_->operands.at(0);
  if (callee.kind != Operand::Kind::reg && is_builtin(callee.name)) return call_builtin(callee.name);
  const auto reachable = callees(*state_->function, *statement_);
  if (callee.kind != Operand::Kind::reg) return call_function(*reachable.front());
  // One after the other for the lanes that have its address.
  const std::uint32_t address = source(callee, 8);
  std::vector<std::uint32_t> known;
  for (const Function* function : reachable) known.push_back(symbol(function->name, 0, 8));
  Instruction& check = emit("_check_callee");
  check.a = address;
  check.list = static_cast<std::uint32_t>(program_.lists.size());
  check.extra = static_cast<std::uint32_t>(known.size());
  program_.lists.insert(program_.lists.end(), known.begin(), known.end());
  for (std::size_t k = 0; k < known.size(); ++k) {
    const std::uint32_t chosen = new_row(0);
    Instruction& compare = emit("setp.eq.u64");
    compare.d = chosen;
    compare.a = address;
    compare.b = known[k];
    const std::size_t branch = program_.segments.size() - 1;
    program_.segments[branch].predicate = chosen;
    program_.segments[branch].negated = true;
    end_segment(Segment::End::branch);
    begin_segment();
    call_function(*reachable[k]);
    begin_segment();
    program_.segments[branch].target = static_cast<std::uint32_t>(program_.segments.size() - 1);
  }
}

}  // namespace cudal1::sim
