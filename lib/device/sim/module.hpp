// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/element.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudal1::sim {

// A PTX module as its text says it, names resolved.

enum class Space : std::uint8_t { generic, global, shared, local, constant, param, cluster };

// A variable outside registers.
struct Variable {
  Space space = Space::global;
  std::string name;
  std::size_t align = 1, bytes = 0;
  bool external = false;                // .extern, or declared without a size: dynamic shared memory
  std::vector<std::byte> initial;       // empty: none given
  struct Relocation {
    std::size_t offset = 0;
    std::string symbol;                 // whose address stands there
    std::int64_t addend = 0;
  };
  std::vector<Relocation> relocations;
  int line = 0;
};

struct Register {
  std::string name;
  Element element = Element::b32;
};

struct Operand {
  enum class Kind { none, reg, immediate, symbol, special, address, vector, label, sink };
  Kind kind = Kind::none;
  int reg = -1;                    // index into Function::registers; also the base of an address
  bool negated = false;            // "!%p1"
  int second = -1;                 // "%r1|%p1": the register after the bar; -1: none
  std::uint64_t bits = 0;          // an immediate, or the offset added to a symbol or address
  bool real = false, single = false;
  std::string name;                // of a symbol, special register, or label; of an address's symbol
  int label = -1;                  // statement index it stands for, once resolved
  std::vector<Operand> elements;   // of a vector
};

struct Statement {
  std::string opcode;              // with all modifiers
  std::vector<Operand> operands;
  int guard = -1;                  // predicate register; -1: none
  bool guard_negated = false;
  int line = 0, column = 0;        // in the PTX text
  int source_line = 0;             // in the kernel file, from .loc; 0: unknown
  // Only of a call: operand 0 is a label with the callee's name, or a register with its address; arguments and results are .param
  // variables.
  std::vector<std::string> arguments, results;
};

struct Function {
  std::string name;
  bool entry = false, defined = false;
  std::vector<Variable> parameters, results;
  std::vector<Variable> variables;      // .shared, .local and .param declared inside
  std::vector<Register> registers;
  std::vector<Statement> body;
  unsigned max_threads = 0;             // .maxntid or .reqntid; 0: not given
  std::array<unsigned, 3> cluster{};    // .reqnctapercluster; 0: not given
  int line = 0;
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<int, std::string> files;

  const Function* function(const std::string& name) const;  // nullptr: none
  const Variable* variable(const std::string& name) const;
};

}  // namespace cudal1::sim
