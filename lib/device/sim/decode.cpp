// SPDX-License-Identifier: Apache-2.0
#include "sim/decode.hpp"

#include "sim/control_flow.hpp"
#include "sim/decoder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t largest_slab = std::size_t{8} << 20;  // per warp

}  // namespace

bool Decoder::may_be_waited_on(const std::string& opcode) {
  for (const char* part : {"atom", "volatile", "acquire", "relaxed", "mbarrier", "barrier.cluster"})
    if (opcode.find(part) != std::string::npos) return true;
  return false;
}

void Decoder::refuse(const std::string& message) const {
  base::Diagnostic diagnostic;
  diagnostic.file = "PTX";
  diagnostic.message = message;
  if (statement_) {
    diagnostic.line = statement_->line;
    diagnostic.column = statement_->column;
    diagnostic.line_text = statement_->opcode;
  }
  throw Refused{diagnostic};
}

base::Diagnostic Decoder::incomplete() const {
  base::Diagnostic diagnostic;
  diagnostic.file = "PTX";
  diagnostic.message = "an instruction lacks an operand";
  if (statement_) {
    diagnostic.message = fmt::format("\"{}\" lacks an operand", statement_->opcode);
    diagnostic.line = statement_->line;
    diagnostic.column = statement_->column;
  }
  return diagnostic;
}

void Decoder::unknown() const {
  std::string name = statement_->opcode;
  refuse(fmt::format("sim does not know \"{}\"", name));
}

std::set<std::size_t> Decoder::targets(const Function& function) const {
  std::set<std::size_t> found;
  for (const Statement& statement : function.body)
    for (const Operand& operand : statement.operands)
      if (operand.label >= 0) found.insert(static_cast<std::size_t>(operand.label));
  return found;
}

void Decoder::begin_segment() {
  if (open_) end_segment(Segment::End::fall);
  Segment segment;
  segment.first = segment.last = static_cast<std::uint32_t>(program_.instructions.size());
  program_.segments.push_back(segment);
  open_ = true;
}

void Decoder::end_segment(Segment::End end) {
  Segment& segment = program_.segments.back();
  segment.last = static_cast<std::uint32_t>(program_.instructions.size());
  segment.end = end;
  segment.statement = statement_index_;
  open_ = false;
}

void Decoder::branch(const Opcode&) {
  const int label = statement_->operands.at(0).label;
  if (label < 0) unknown();
  const auto segment = static_cast<std::uint32_t>(program_.segments.size() - 1);
  jumps_.push_back({segment, state_, static_cast<std::size_t>(label)});
  if (static_cast<std::size_t>(label) <= static_cast<std::size_t>(statement_ - state_->function->body.data())) has_loop_ = true;
  if (statement_->guard < 0) return end_segment(Segment::End::jump);
  program_.segments.back().predicate = register_row(statement_->guard);
  program_.segments.back().negated = statement_->guard_negated;
  end_segment(Segment::End::branch);
}

// bar.sync, bar.arrive, bar.red and their barrier twins. The handler notes what is waited for; the segment's end waits.
void Decoder::barrier(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const bool arrive = opcode.has("arrive"), reduction = opcode.has("red");
  std::size_t next = reduction ? 1 : 0;
  if (operands.size() <= next) unknown();
  const std::uint32_t id = source(operands[next], 4);
  const bool counted = operands.size() > next + (reduction ? 2u : 1u);
  const std::uint32_t count = counted ? source(operands[next + 1], 4) : nowhere;
  std::uint32_t result = nowhere, vote = nowhere;
  if (reduction) {
    result = opcode.has("popc") ? destination(operands[0], 4, false) : predicate(operands[0]);
    vote = predicate(operands.back());
  }
  if (!arrive) begin_segment();  // lanes may have to wait in front of it for the rest of their warp
  Instruction& instruction = emit(arrive ? "_barrier_arrive" : "_barrier");
  instruction.a = id;
  instruction.b = count;
  instruction.c = vote;
  instruction.d = result;
  instruction.extra = !reduction ? 0 : opcode.has("popc") ? 1 : opcode.has("and") ? 2 : 3;
  instruction.immediate = reduction && operands.back().negated;
  if (!arrive) end_segment(Segment::End::barrier);
}

// barrier.cluster.arrive[.release|.relaxed][.aligned] and barrier.cluster.wait[.acquire][.aligned].
void Decoder::cluster_barrier(const Opcode& opcode) {
  const bool waits = opcode.has("wait");
  if (!waits && !opcode.has("arrive")) unknown();
  program_.may_spin = true;
  if (waits) begin_segment();
  program_.meets_in_clusters = true;
  Instruction& instruction = emit(waits ? "_cluster.wait" : "_cluster.arrive");
  instruction.extra = opcode.has("aligned");
  instruction.immediate = opcode.has("relaxed");
  if (waits) end_segment(Segment::End::cluster);
}

void Decoder::sleep() {
  const std::uint32_t nanoseconds = source(statement_->operands.at(0), 4);
  emit("_nanosleep").a = nanoseconds;
  end_segment(Segment::End::pause);
}

// A warp operation with a mask: lanes may have to wait in front of it for others that the mask names.
bool Decoder::names_lanes(const Opcode& opcode) const {
  const std::string& m = opcode.mnemonic();
  return !statement_->operands.empty() &&
         (m == "redux" || m == "elect" || (m == "bar" && opcode.has("warp")) || ((m == "shfl" || m == "vote" || m == "match") && opcode.has("sync")));
}

// All lanes of the warp run it together, as tensor operations and the arrival at a cluster's barrier. Lanes that went ahead of one that waits
// alone meet the others here. In front of a block's barrier they do so by its segment's end.
bool Decoder::needs_whole_warp(const Opcode& opcode) const {
  const bool barrier = opcode.mnemonic() == "bar" || opcode.mnemonic() == "barrier";
  return opcode.has("aligned") && (barrier ? opcode.has("cluster") && opcode.has("arrive") : opcode.has("sync"));
}

bool Decoder::control(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  if (m == "bra") {
    branch(opcode);
    return true;
  }
  if (m == "brx" || (m == "bar" && opcode.has("warp"))) return false;
  const bool ends = m == "ret" || m == "exit" || m == "trap" || m == "call" || m == "bar" || m == "barrier" || m == "nanosleep";
  if (!ends) return false;
  if (statement_->guard >= 0) {
    // Lanes whose guard is false jump over the statement.
    Segment& segment = program_.segments.back();
    segment.predicate = register_row(statement_->guard);
    segment.negated = !statement_->guard_negated;
    jumps_.push_back({static_cast<std::uint32_t>(program_.segments.size() - 1), state_,
                      static_cast<std::size_t>(statement_ - state_->function->body.data()) + 1});
    end_segment(Segment::End::branch);
    begin_segment();
  }
  if (m == "ret") end_segment(state_->function->entry ? Segment::End::leave : Segment::End::finish);
  else if (m == "exit") end_segment(Segment::End::leave);
  else if (m == "trap") emit("_trap"), end_segment(Segment::End::leave);
  else if (m == "call") call();
  else if (m == "nanosleep") sleep();
  else if (opcode.has("cluster")) cluster_barrier(opcode);
  else barrier(opcode);
  return true;
}

void Decoder::body(FunctionState& state) {
  state_ = &state;
  const Function& function = *state.function;
  const auto leaders = targets(function);
  state.first_segment = static_cast<std::uint32_t>(program_.segments.size());
  state.segment_of.assign(function.body.size() + 1, nowhere);
  open_ = false;
  bool split = true;
  for (std::size_t index = 0; index < function.body.size(); ++index) {
    const Statement& statement = function.body[index];
    statement_ = &statement;
    StatementFacts facts;
    facts.opcode = statement.opcode;
    facts.line = statement.line;
    facts.source_line = statement.source_line;
    classify(facts);
    statement_index_ = static_cast<std::uint32_t>(program_.statements.size());
    const Opcode opcode = split_opcode(statement.opcode);
    const bool by_mask = lanes_may_wait_ && names_lanes(opcode), by_all = lanes_may_wait_ && statement.guard < 0 && needs_whole_warp(opcode);
    if (split || !open_ || by_mask || by_all || leaders.contains(index)) begin_segment();
    if (by_mask) program_.segments.back().members = source(statement.operands.back(), 4);
    if (by_all) program_.segments.back().whole_warp = true;
    split = false;
    state.segment_of[index] = static_cast<std::uint32_t>(program_.segments.size() - 1);
    facts.segment = state.segment_of[index];
    note_registers(statement, facts);
    ++program_.segments.back().weight;
    program_.statements.push_back(facts);
    const bool guarded_control = statement.guard >= 0;
    if (control(opcode)) {
      // The lanes that skip a guarded statement land on the next one.
      if (guarded_control && opcode.mnemonic() != "bra") split = true;
      continue;
    }
    if (statement.guard >= 0) {
      const std::uint32_t guard = register_row(statement.guard);
      Instruction& on = emit("_guard_on");
      on.a = guard;
      on.extra = statement.guard_negated;
    }
    ordinary(opcode);
    if (statement.guard >= 0) emit("_guard_off");
    if (program_.slab_bytes > largest_slab) refuse("a kernel uses too many registers");
  }
  statement_ = nullptr;
  // Control that runs off the end returns.
  begin_segment();
  state.segment_of[function.body.size()] = static_cast<std::uint32_t>(program_.segments.size() - 1);
  end_segment(function.entry ? Segment::End::leave : Segment::End::finish);
}

void Decoder::joins(const FunctionState& state) {
  const std::uint32_t first = state.first_segment;
  std::uint32_t last = first;
  for (const std::uint32_t segment : state.segment_of)
    if (segment != nowhere) last = std::max(last, segment);
  std::vector<std::vector<std::uint32_t>> successors(last - first + 1);
  for (std::uint32_t s = first; s <= last; ++s) {
    const Segment& segment = program_.segments[s];
    auto& list = successors[s - first];
    const bool jumps = segment.end == Segment::End::jump || segment.end == Segment::End::branch;
    if (jumps) list.push_back(segment.target - first);
    if (segment.end != Segment::End::jump && segment.end != Segment::End::leave && segment.end != Segment::End::finish) list.push_back(s + 1 - first);
  }
  const auto dominators = post_dominators(successors);
  for (std::uint32_t s = first; s <= last; ++s) {
    const std::uint32_t join = dominators[s - first];
    program_.segments[s].join = join == successors.size() ? nowhere : join + first;
  }
}

// Jumps back over something that a lane may wait on: lanes that spin there must not keep others from going on.
void Decoder::mark_spins() {
  for (const std::string& name : order_) {
    const FunctionState& state = functions_.at(name);
    std::set<std::uint32_t> asking;
    for (std::size_t i = 0; i < state.function->body.size(); ++i)
      if (may_be_waited_on(state.function->body[i].opcode) && state.segment_of[i] != nowhere) asking.insert(state.segment_of[i]);
    if (asking.empty()) continue;
    for (const std::uint32_t s : state.segment_of) {
      if (s == nowhere) continue;
      Segment& segment = program_.segments[s];
      if ((segment.end != Segment::End::jump && segment.end != Segment::End::branch) || segment.target > s) continue;
      const auto first = asking.lower_bound(segment.target);
      segment.spins = first != asking.end() && *first <= s;
    }
  }
}

Program Decoder::run() {
  program_.name = entry_.name;
  program_.max_threads = entry_.max_threads;
  program_.cluster = entry_.cluster;
  program_.sites.push_back({});
  collect(entry_);
  find_recursion();
  layout_parameters();
  std::uint32_t registers = 0;
  for (const std::string& name : order_) {
    FunctionState& state = functions_.at(name);
    layout(state), count_reads(state);
    state.first_register = registers;
    registers += static_cast<std::uint32_t>(state.function->registers.size());
  }
  program_.registers = registers;
  place_frames();
  for (const std::string& name : order_) body(functions_.at(name));
  for (const Jump& jump : jumps_) {
    // A label may stand behind the last statement of its run: the segment that starts there or next.
    program_.segments[jump.segment].target = jump.state->segment_of[jump.statement];
  }
  for (const Call& call : calls_) program_.segments[call.segment].target = functions_.at(call.callee).first_segment;
  for (const std::string& name : order_) joins(functions_.at(name)), note_frame(functions_.at(name));
  mark_spins();
  if (reads_shared_by_bytes_) program_.shared_granule = 1;
  program_.may_spin |= ordered_access_ || program_.fixed_order;
  program_.waits_for_blocks = program_.fixed_order && has_loop_;
  program_.slab_bytes = (program_.slab_bytes + 63) / 64 * 64;
  return std::move(program_);
}

tl::expected<Program, base::Diagnostic> decode(const Module& module, const Function& entry,
                                               const std::map<std::string, std::uint64_t>& addresses) {
  Decoder decoder(module, entry, addresses);
  try {
    return decoder.run();
  } catch (Decoder::Refused& refused) {
    return tl::unexpected(refused.diagnostic);
  } catch (const std::out_of_range&) {
    // An operand, parameter or variable that the statement needs is not there.
    return tl::unexpected(decoder.incomplete());
  }
}

}  // namespace cudal1::sim
