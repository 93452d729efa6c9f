// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

Space Decoder::space_of(const Opcode& opcode) const {
  for (const std::string& part : opcode.parts) {
    if (part == "global") return Space::global;
    if (part == "shared" || part == "shared::cta") return Space::shared;
    if (part == "shared::cluster") return Space::cluster;
    if (part == "local") return Space::local;
    if (part == "const") return Space::constant;
    if (part == "param" || part == "param::entry" || part == "param::func") return Space::param;
  }
  return Space::generic;
}

static const char* name_of(Space space) {
  return space == Space::shared ? "shared" : space == Space::cluster ? "cluster" : space == Space::local ? "local" : "global";
}

SiteFacts::Kind Decoder::site_kind(Space space, bool store) {
  switch (space) {
    case Space::shared:
    case Space::cluster: return SiteFacts::Kind::shared;
    case Space::local: return SiteFacts::Kind::local;
    case Space::constant: return SiteFacts::Kind::constant;
    default: return store ? SiteFacts::Kind::store : SiteFacts::Kind::load;
  }
}

std::uint32_t Decoder::new_site(SiteFacts::Kind kind) {
  program_.sites.push_back({kind, statement_index_});
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

std::uint32_t Decoder::address_row(const Operand& operand, Space space, std::int64_t& offset) {
  if (operand.kind != Operand::Kind::address || !operand.elements.empty()) refuse(fmt::format("\"{}\" needs an address", statement_->opcode));
  offset = static_cast<std::int64_t>(operand.bits);
  if (operand.reg >= 0) {
    Operand base;
    base.kind = Operand::Kind::reg;
    base.reg = operand.reg;
    return source(base, 8);
  }
  if (operand.name.empty()) return constant(0, 8);
  const Variable* shared = shared_variable(operand.name);
  if (shared && space == Space::generic) refuse("a generic address names a shared variable");
  return symbol(operand.name, 0, 8);
}

void Decoder::load_parameter(const Opcode& opcode, const Operand& from) {
  const Element type = opcode.type();
  const unsigned width = std::max(1u, bytes_of(type));
  const std::uint32_t base = parameter_offsets_.at(from.name) + static_cast<std::uint32_t>(from.bits);
  const Operand& into = statement_->operands.at(0);
  const bool vector = into.kind == Operand::Kind::vector;
  const std::size_t count = vector ? into.elements.size() : 1;
  for (std::size_t k = 0; k < count; ++k) {
    const Operand& one = vector ? into.elements[k] : into;
    if (one.kind == Operand::Kind::sink) continue;
    if (one.kind != Operand::Kind::reg) unknown();
    const unsigned wide = register_width(one.reg);
    const std::uint32_t offset = base + static_cast<std::uint32_t>(k) * width;
    if (wide < width || offset + width > program_.parameter_bytes) refuse("a parameter is read past its end");
    const auto [entry, fresh] = parameter_rows_.try_emplace({offset, width, wide, is_signed(type)}, 0);
    if (fresh) {
      entry->second = new_row(wide);
      fixed_rows_.insert(entry->second);
      program_.parameters.push_back({entry->second, wide, offset, width, is_signed(type)});
    }
    if (alias(one, entry->second, wide)) continue;
    const std::uint32_t row = entry->second, d = register_row(one.reg);
    Instruction& instruction = emit(fmt::format("mov.b{}", wide * 8));
    instruction.d = d;
    instruction.a = row;
  }
}

void Decoder::load(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  if (operands.size() < 2) unknown();
  Space space = space_of(opcode);
  if (space == Space::param) {
    const bool entry_parameter = state_->function->entry && parameter_offsets_.contains(operands[1].name);
    if (entry_parameter) return load_parameter(opcode, operands[1]);
    // Parameters of a call live in local memory; one read through a register lies in the parameter block.
    space = operands[1].reg >= 0 ? Space::generic : Space::local;
  }
  const Element type = opcode.type();
  const unsigned width = std::max(1u, bytes_of(type));
  std::vector<const Operand*> into;
  if (operands[0].kind == Operand::Kind::vector)
    for (const Operand& one : operands[0].elements) into.push_back(&one);
  else
    into.push_back(&operands[0]);
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(operands[1], space, offset);
  if ((space == Space::shared || space == Space::cluster) && width < 4) reads_shared_by_bytes_ = true;
  const bool ordered = opcode.has("volatile") || opcode.has("acquire") || opcode.has("relaxed") || opcode.has("mmio");
  if (ordered) order("_observe", space, address, offset);
  const char* name = name_of(space);
  std::vector<std::uint32_t> rows;
  for (const Operand* one : into) rows.push_back(width == 16 ? nowhere : destination(*one, width, is_signed(type)));
  if (width == 16) unknown();
  const auto list = static_cast<std::uint32_t>(program_.lists.size());
  if (rows.size() > 1) program_.lists.insert(program_.lists.end(), rows.begin(), rows.end());
  const std::uint32_t site = new_site(site_kind(space, false));
  Instruction& instruction = emit(fmt::format("_ld.{}.{}.{}", name, width, rows.size()));
  instruction.a = address;
  instruction.immediate = offset;
  instruction.d = rows[0];
  instruction.list = list;
  instruction.site = site;
  instruction.extra = static_cast<std::uint32_t>(ordered);
  finish_destinations();
}

void Decoder::store(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  if (operands.size() < 2) unknown();
  Space space = space_of(opcode);
  if (space == Space::param) space = Space::local;
  if (space == Space::constant) unknown();
  const unsigned width = std::max(1u, bytes_of(opcode.type()));
  if (width == 16) unknown();
  if (opcode.has("async")) unknown();
  std::vector<std::uint32_t> rows;
  if (operands[1].kind == Operand::Kind::vector)
    for (const Operand& one : operands[1].elements) rows.push_back(source(one, width));
  else
    rows.push_back(source(operands[1], width));
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(operands[0], space, offset);
  if ((space == Space::shared || space == Space::cluster) && width < 4) reads_shared_by_bytes_ = true;
  const bool ordered = opcode.has("volatile") || opcode.has("release") || opcode.has("relaxed") || opcode.has("mmio");
  if (ordered && opcode.has("release") && space != Space::shared && space != Space::cluster) emit("_fence");
  if (ordered) order("_publish", space, address, offset);
  const char* name = name_of(space);
  const auto list = static_cast<std::uint32_t>(program_.lists.size());
  if (rows.size() > 1) program_.lists.insert(program_.lists.end(), rows.begin(), rows.end());
  const std::uint32_t site = new_site(site_kind(space, true));
  Instruction& instruction = emit(fmt::format("_st.{}.{}.{}", name, width, rows.size()));
  instruction.a = address;
  instruction.immediate = offset;
  instruction.d = rows[0];
  instruction.list = list;
  instruction.site = site;
  instruction.extra = static_cast<std::uint32_t>(ordered);
}

// What an ordered access does beside moving its values.
void Decoder::order(const char* operation, Space space, std::uint32_t address, std::int64_t offset) {
  if (space == Space::local) return;
  ordered_access_ = true;
  if (space == Space::shared || space == Space::cluster) {
    program_.orders_in_shared = true;
    return;
  }
  program_.fixed_order = program_.orders_itself = true;
  Instruction& instruction = emit(operation);
  instruction.a = address;
  instruction.immediate = offset;
}

// atom d, [a], b[, c] and red [a], b.
// An atomic operation in global memory may order what blocks do.
void Decoder::order_blocks(const Opcode& opcode, bool order_matters, std::uint32_t address, std::int64_t offset) {
  if (order_matters) program_.fixed_order = true;
  const bool acquires = opcode.has("acquire"), releases = opcode.has("release") || opcode.has("acq_rel");
  if (acquires || releases) program_.fixed_order = program_.orders_itself = true;
  if (releases) emit("_fence");
  Instruction& update = emit("_update");
  update.a = address;
  update.immediate = offset;
}

void Decoder::atomic(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const bool reduction = opcode.mnemonic() == "red";
  const std::size_t first = reduction ? 0 : 1;
  if (operands.size() < first + 2) unknown();
  const Space space = space_of(opcode);
  const Element type = opcode.type();
  static constexpr std::string_view known[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
  std::string operation;
  for (const std::string& part : opcode.parts)
    if (std::find(std::begin(known), std::end(known), part) != std::end(known)) operation = part;
  const std::string handler = fmt::format("_atom.{}.{}", operation, name(type));
  if (operation.empty() || opcode.has("async") || !operations().contains(handler)) unknown();
  const unsigned width = bytes_of(type);
  const auto is_read = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::reg && state_->reads[static_cast<std::size_t>(operand.reg)] > 0;
  };
  const Operand& value = operands[first + 1];
  const bool vector = value.kind == Operand::Kind::vector;
  bool used = false;
  if (!reduction) used = vector ? std::any_of(operands[0].elements.begin(), operands[0].elements.end(), is_read) : is_read(operands[0]);
  ordered_access_ |= used;
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(operands[first], space, offset);
  const bool order_matters = used || is_float(type) || operation == "exch" || operation == "cas" || operation == "inc" || operation == "dec";
  if (space == Space::shared || space == Space::cluster) program_.orders_in_shared = true;
  else order_blocks(opcode, order_matters, address, offset);
  if (vector) {  // atomic element by element
    for (std::size_t k = 0; k < value.elements.size(); ++k) {
      const std::uint32_t part = source(value.elements[k], width);
      const std::uint32_t into = used ? destination(operands[0].elements.at(k), width, false) : nowhere;
      const std::uint32_t site = new_site(SiteFacts::Kind::atomic);
      Instruction& instruction = emit(handler);
      instruction.d = into;
      instruction.a = address;
      instruction.b = part;
      instruction.c = nowhere;
      instruction.immediate = offset + static_cast<std::int64_t>(k * width);
      instruction.extra = static_cast<std::uint32_t>(space == Space::global ? Space::generic : space);
      instruction.site = site;
      finish_destinations();
    }
    return;
  }
  const std::uint32_t b = source(value, width);
  const std::uint32_t c = operands.size() > first + 2 && operation == "cas" ? source(operands[first + 2], width) : nowhere;
  if (operation == "cas" && c == nowhere) unknown();
  const std::uint32_t d = used ? destination(operands[0], width, is_signed(type)) : nowhere;
  const std::uint32_t site = new_site(space == Space::shared || space == Space::cluster ? SiteFacts::Kind::shared : SiteFacts::Kind::atomic);
  Instruction& instruction = emit(handler);
  instruction.d = d;
  instruction.a = address;
  instruction.b = b;
  instruction.c = c;
  instruction.immediate = offset;
  instruction.extra = static_cast<std::uint32_t>(space == Space::global ? Space::generic : space);
  instruction.site = site;
  finish_destinations();
}

// mbarrier objects in shared memory. A wait lets other warps run before it is asked again.
void Decoder::memory_barrier(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const std::string& verb = opcode.parts.at(1);
  if (verb == "inval") return;
  const bool tests = verb == "test_wait" || verb == "try_wait", stated = verb.starts_with("arrive") && opcode.parts.back() == "b64";
  const bool arrives = stated || verb == "expect_tx" || opcode.mnemonic() == "cp";
  const Space space = space_of(opcode);
  const bool expects = opcode.has("expect_tx");
  if (!(tests || arrives || verb == "init") || opcode.has("noComplete")) unknown();
  if (tests && space == Space::cluster) unknown();
  const std::size_t at = tests || (stated && opcode.mnemonic() != "cp") ? 1 : 0;
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(operands.at(at), space, offset);
  const bool counted = operands.size() > at + 1;
  const unsigned width = tests && !opcode.has("parity") ? 8 : 4;
  const std::uint32_t value = counted ? source(operands[at + 1], width) : nowhere;
  std::uint32_t d = nowhere;
  if (tests) d = predicate(operands[0]);
  else if (at == 1 && operands[0].kind == Operand::Kind::reg) d = destination(operands[0], 8, false);
  ordered_access_ = program_.orders_in_shared = true;
  Instruction& instruction = emit(verb == "init" ? "_mbarrier.init" : tests ? "_mbarrier.test" : "_mbarrier.arrive");
  instruction.d = d;
  instruction.a = address;
  instruction.b = value;
  instruction.immediate = offset;
  instruction.list = static_cast<std::uint32_t>(space);
  if (tests) instruction.extra = opcode.has("parity");
  else if (opcode.mnemonic() == "cp") instruction.extra = opcode.has("noinc") ? 4 : 3;
  else instruction.extra = verb == "expect_tx" ? 2 : expects ? 1 : verb == "arrive_drop" ? 5 : 0;
  finish_destinations();
  if (tests && statement_->guard < 0) end_segment(Segment::End::pause);
}

// cp.async.ca/cg.shared.global [dst], [src], size[, src-size][, policy] and its groups.
void Decoder::asynchronous(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  if (opcode.text == "cp.async.commit_group") {
    emit("_copy.commit");
    return;
  }
  if (opcode.text == "cp.async.wait_all" || opcode.text == "cp.async.wait_group") {
    std::int64_t keep = 0;
    if (opcode.has("wait_group")) keep = static_cast<std::int64_t>(operands.at(0).bits);
    Instruction& instruction = emit("_copy.wait");
    instruction.immediate = keep;
    instruction.extra = opcode.has("wait_all");
    return;
  }
  if (opcode.has("mbarrier") && opcode.has("arrive")) return memory_barrier(opcode);
  if (opcode.has("bulk") || !opcode.has("global") || operands.size() < 3) unknown();
  if (operands[2].kind != Operand::Kind::immediate) unknown();
  const std::uint64_t bytes = operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) unknown();
  std::int64_t to_offset = 0, from_offset = 0;
  const std::uint32_t to = address_row(operands[0], Space::shared, to_offset);
  const std::uint32_t from = address_row(operands[1], Space::global, from_offset);
  std::uint32_t taken = nowhere;
  bool ignore = false;
  if (operands.size() > 3 && !opcode.has("L2::cache_hint")) {
    if (operands[3].kind == Operand::Kind::reg && register_width(operands[3].reg) == 0) {
      taken = predicate(operands[3]);  // ignore-src: zeros where true
      ignore = true;
    } else {
      taken = source(operands[3], 4);
    }
  }
  if (to_offset != 0 && to_offset != static_cast<std::int32_t>(to_offset)) unknown();
  const std::uint32_t load_site = new_site(SiteFacts::Kind::load), store_site = new_site(SiteFacts::Kind::shared);
  const auto list = static_cast<std::uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), {store_site, static_cast<std::uint32_t>(to_offset), ignore});
  Instruction& instruction = emit("_copy.start");
  instruction.d = to;
  instruction.a = from;
  instruction.b = taken;
  instruction.immediate = from_offset;
  instruction.extra = static_cast<std::uint32_t>(bytes);
  instruction.site = load_site;
  instruction.list = list;
}

bool Decoder::memory(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  if (m == "ld" || m == "ldu") load(opcode);
  else if (m == "st") store(opcode);
  else if (m == "atom" || m == "red") atomic(opcode);
  else if (m == "cp" && opcode.has("async")) asynchronous(opcode);
  else if (m == "mbarrier" && opcode.parts.size() > 2) memory_barrier(opcode);
  else return false;
  return true;
}

}  // namespace cudal1::sim
