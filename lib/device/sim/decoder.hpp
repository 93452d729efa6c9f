// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/decode.hpp"
#include "sim/operation.hpp"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::sim {

// An opcode cut at its dots, without modifiers that change nothing here (cache hints, scopes).
struct Opcode {
  std::string text;
  std::vector<std::string> parts;
  const std::string& mnemonic() const { return parts.front(); }
  bool has(std::string_view part) const;
  std::string without(std::initializer_list<std::string_view> dropped) const;  // joined again
  Element type() const;                                                      // the last part that is a type; b32 if none
};
Opcode split_opcode(const std::string& text);

inline constexpr std::size_t largest_local = std::size_t{512} << 10;  // per thread, as on the hardware

// The work behind decode(): one for an entry. Functions and control in decode.cpp, calls in decode_call.cpp, operands in decode_operand.cpp, memory in
// decode_memory.cpp, everything element-wise in decode_element.cpp, tensor operations in decode_tensor.cpp, Hopper's in decode_asynchronous.cpp.
class Decoder {
 public:
  struct Refused {
    base::Diagnostic diagnostic;
  };
  Decoder(const Module& module, const Function& entry, const std::map<std::string, std::uint64_t>& addresses)
      : module_(module), entry_(entry), addresses_(addresses) {}
  Program run();  // throws Refused; std::out_of_range where the text lacks an operand
  base::Diagnostic incomplete() const;  // the statement that std::out_of_range is about

 private:
  struct FunctionState {
    const Function* function = nullptr;
    std::vector<std::uint32_t> rows;             // of registers; nowhere: not used yet
    std::vector<std::uint32_t> reads, writes;    // how many operands read and write a register
    std::map<std::string, std::size_t> local;    // .local and .param variables → offset in local memory
    std::map<std::string, std::size_t> framed;   // .local variables of a function that calls itself → offset in a frame
    std::set<std::string> callees, reached;      // that it calls; that a call of it may lead to
    std::uint32_t saved = 0;                     // index into Program::saved, where it calls itself
    bool recursive() const { return reached.contains(function->name); }
    std::uint32_t first_segment = 0, first_register = 0;
    std::vector<std::uint32_t> segment_of;       // statement → segment that starts there
  };

  [[noreturn]] void refuse(const std::string& message) const;
  [[noreturn]] void unknown() const;

  // decode.cpp
  static bool may_be_waited_on(const std::string& opcode);   // what makes Program::may_spin true, seen before anything is decoded
  void layout(FunctionState& state);
  void layout_parameters();
  void body(FunctionState& state);
  void count_reads(FunctionState& state);
  std::set<std::size_t> targets(const Function& function) const;
  void note_registers(const Statement& statement, StatementFacts& facts) const;
  void begin_segment();
  void end_segment(Segment::End end);
  bool names_lanes(const Opcode& opcode) const;
  bool needs_whole_warp(const Opcode& opcode) const;
  bool control(const Opcode& opcode);   // false: not a control instruction
  void branch(const Opcode& opcode);
  void barrier(const Opcode& opcode);
  void cluster_barrier(const Opcode& opcode);
  void sleep();
  void mark_spins();
  void joins(const FunctionState& state);

  // decode_call.cpp
  std::set<std::string> addressed() const;
  std::vector<const Function*> callees(const Function& caller, const Statement& statement) const;
  void collect(const Function& function);
  void find_recursion();
  void place_frames();
  void note_frame(FunctionState& state);
  std::size_t local_of(const FunctionState& state, const std::string& name) const;
  void call();
  void call_builtin(const std::string& callee);
  void call_function(const Function& callee);

  // decode_operand.cpp
  std::uint32_t new_row(unsigned width);
  std::uint32_t register_row(int reg);
  unsigned register_width(int reg) const;
  std::uint32_t constant(std::uint64_t value, unsigned width);
  std::uint32_t special(const std::string& name, unsigned width);
  std::uint32_t special_row(Special special, unsigned width, std::uint64_t addend = 0);
  std::uint32_t symbol(const std::string& name, std::uint64_t addend, unsigned width);
  std::uint32_t source(const Operand& operand, unsigned width, bool extend_sign = false);
  std::uint32_t predicate(const Operand& operand);
  // The row an instruction writes; when the register is wider, `finish` holds a conversion to emit afterwards.
  std::uint32_t destination(const Operand& operand, unsigned width, bool extend_sign);
  void finish_destinations();
  const Variable* shared_variable(const std::string& name) const;

  // decode_element.cpp
  Instruction& emit(const std::string& operation);
  Instruction* find_and_emit(const std::string& operation, const std::string** shape = nullptr);
  void ordinary(const Opcode& opcode);
  void apply_shape(const std::string& name, const std::string& shape, bool extend_sign);
  bool element(const Opcode& opcode);
  bool packed(const Opcode& opcode);  // f32x2 as two operations of f32
  void compare(const Opcode& opcode);
  void compare_to_value(const Opcode& opcode);
  void compare_halves(const Opcode& opcode);
  bool move(const Opcode& opcode);
  // Lets a register that is written once stand for a row that never changes; false where a copy is needed.
  bool alias(const Operand& into, std::uint32_t row, unsigned width);
  void unpack(const Operand& vector, const Operand& from, unsigned width);
  void pack(const Operand& into, const Operand& vector, unsigned width);
  std::string canonical_name(const Opcode& opcode) const;

  // decode_memory.cpp
  bool memory(const Opcode& opcode);
  Space space_of(const Opcode& opcode) const;
  void address(Instruction& instruction, const Operand& operand, Space space);
  std::uint32_t address_row(const Operand& operand, Space space, std::int64_t& offset);
  void load(const Opcode& opcode);
  void load_parameter(const Opcode& opcode, const Operand& from);
  void store(const Opcode& opcode);
  void order(const char* operation, Space space, std::uint32_t address, std::int64_t offset);
  void atomic(const Opcode& opcode);
  void order_blocks(const Opcode& opcode, bool order_matters, std::uint32_t address, std::int64_t offset);
  void asynchronous(const Opcode& opcode);
  void memory_barrier(const Opcode& opcode);
  std::uint32_t new_site(SiteFacts::Kind kind);
  static SiteFacts::Kind site_kind(Space space, bool store);

  // decode_asynchronous.cpp
  bool asynchronous_proxy(const Opcode& opcode);
  void warpgroup_multiply(const Opcode& opcode);
  void bulk_copy(const Opcode& opcode);
  void bulk_reduction(const Opcode& opcode, std::uint32_t& operation, std::uint32_t& element);
  void tensor_copy(const Opcode& opcode);
  std::uint32_t plain_address(const Operand& operand, Space space, std::int64_t& offset);

  // decode_tensor.cpp
  bool tensor(const Opcode& opcode);
  void tensor_load(const Opcode& opcode, bool store);
  void tensor_multiply(const Opcode& opcode);
  void matrix_load(const Opcode& opcode);
  std::uint32_t operand_list(const std::vector<const Operand*>& operands, unsigned width, bool writes);

  const Module& module_;
  const Function& entry_;
  const std::map<std::string, std::uint64_t>& addresses_;
  Program program_;
  std::map<std::string, FunctionState> functions_;
  std::vector<std::string> order_;
  FunctionState* state_ = nullptr;
  const Statement* statement_ = nullptr;
  std::uint32_t statement_index_ = 0;
  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> constants_;
  std::map<std::tuple<Special, unsigned, std::uint64_t>, std::uint32_t> specials_;
  std::map<std::tuple<std::uint32_t, unsigned, unsigned, bool>, std::uint32_t> parameter_rows_;
  std::map<std::string, std::uint64_t> shared_offsets_;
  std::map<std::string, std::uint32_t> parameter_offsets_;
  std::set<std::uint32_t> fixed_rows_;     // constants, special values and parameters
  std::uint32_t carry_row_ = nowhere;
  std::size_t frames_begin_ = 0;           // in local memory
  bool open_ = false;                      // a segment is being filled
  struct Unfinished {
    std::string conversion;
    std::uint32_t from, to;
  };
  std::vector<Unfinished> unfinished_;
  struct Jump {
    std::uint32_t segment;
    const FunctionState* state;
    std::size_t statement;
  };
  std::vector<Jump> jumps_;
  struct Call {
    std::uint32_t segment;
    std::string callee;
  };
  std::vector<Call> calls_;
  bool lanes_may_wait_ = false;            // some access may be one that lanes wait on: warp operations begin segments
  bool has_loop_ = false, reads_shared_by_bytes_ = false, ordered_access_ = false;
};

}  // namespace cudal1::sim
