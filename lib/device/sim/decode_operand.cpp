// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

struct SpecialName {
  const char* name;
  Special special;
};
constexpr SpecialName special_names[] = {
    {"%tid.x", Special::tid_x},       {"%tid.y", Special::tid_y},       {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},     {"%ntid.y", Special::ntid_y},     {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},   {"%ctaid.y", Special::ctaid_y},   {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x}, {"%nctaid.y", Special::nctaid_y}, {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},     {"%warpid", Special::warpid},     {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},         {"%nsmid", Special::nsmid},       {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq}, {"%lanemask_le", Special::lanemask_le}, {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge}, {"%lanemask_gt", Special::lanemask_gt},
    {"%dynamic_smem_size", Special::dynamic_shared_bytes}, {"%total_smem_size", Special::total_shared_bytes},
    {"%envreg1", Special::workspace_high}, {"%envreg2", Special::workspace_low},
    {"%cluster_ctarank", Special::cluster_rank}, {"%cluster_nctarank", Special::cluster_size}, {"%is_explicit_cluster", Special::explicit_cluster},
    {"%cluster_ctaid.x", Special::in_cluster_x}, {"%cluster_ctaid.y", Special::in_cluster_y}, {"%cluster_ctaid.z", Special::in_cluster_z},
    {"%cluster_nctaid.x", Special::of_cluster_x}, {"%cluster_nctaid.y", Special::of_cluster_y}, {"%cluster_nctaid.z", Special::of_cluster_z},
    {"%clusterid.x", Special::cluster_x}, {"%clusterid.y", Special::cluster_y}, {"%clusterid.z", Special::cluster_z},
    {"%nclusterid.x", Special::clusters_x}, {"%nclusterid.y", Special::clusters_y}, {"%nclusterid.z", Special::clusters_z},
};

}  // namespace

std::uint32_t Decoder::new_row(unsigned width) {
  const std::uint32_t bytes = width == 0 ? 64 : std::max(64u, width * 32);
  const std::uint32_t offset = program_.slab_bytes;
  program_.slab_bytes += bytes;
  return offset;
}

unsigned Decoder::register_width(int reg) const {
  const Element element = state_->function->registers[static_cast<std::size_t>(reg)].element;
  return element == Element::pred ? 0 : std::max(2u, bytes_of(element));
}

std::uint32_t Decoder::register_row(int reg) {
  std::uint32_t& row = state_->rows[static_cast<std::size_t>(reg)];
  if (row == nowhere) row = new_row(register_width(reg));
  return row;
}

std::uint32_t Decoder::constant(std::uint64_t value, unsigned width) {
  if (width < 8) value &= (std::uint64_t{1} << (8 * width)) - 1;
  const auto [entry, fresh] = constants_.try_emplace({value, width}, 0);
  if (fresh) {
    entry->second = new_row(width);
    fixed_rows_.insert(entry->second);
    program_.constants.push_back({entry->second, width, value});
  }
  return entry->second;
}

std::uint32_t Decoder::special_row(Special special, unsigned width, std::uint64_t addend) {
  const auto [entry, fresh] = specials_.try_emplace({special, width, addend}, 0);
  if (fresh) {
    entry->second = new_row(width);
    fixed_rows_.insert(entry->second);
    program_.specials.push_back({entry->second, width, special, addend});
  }
  return entry->second;
}

std::uint32_t Decoder::special(const std::string& name, unsigned width) {
  if (name == "WARP_SZ") return constant(32, width);
  for (const SpecialName& known : special_names)
    if (name == known.name) return special_row(known.special, width);
  if (name == "%clock" || name == "%clock64" || name == "%clock_hi" || name == "%globaltimer" || name == "%globaltimer_lo") {
    const std::uint32_t row = new_row(width);
    emit(width == 8 ? "_clock.8" : "_clock.4").d = row;
    return row;
  }
  if (name.starts_with("%envreg")) return constant(0, width);
  if (name.starts_with("%r") || name.starts_with("%f") || name.starts_with("%p")) refuse(fmt::format("\"{}\" is not declared", name));
  refuse(fmt::format("sim does not know \"{}\"", name));
}

const Variable* Decoder::shared_variable(const std::string& name) const {
  for (const Variable& variable : state_->function->variables)
    if (variable.name == name && variable.space == Space::shared) return &variable;
  const Variable* variable = module_.variable(name);
  return variable && variable->space == Space::shared ? variable : nullptr;
}

std::uint32_t Decoder::symbol(const std::string& name, std::uint64_t addend, unsigned width) {
  if (const Variable* shared = shared_variable(name)) {
    if (shared->external) return special_row(Special::dynamic_shared_address, width, addend);
    return constant(shared_offsets_.at(name) + addend, width);
  }
  if (const auto local = state_->local.find(name); local != state_->local.end()) return constant(local->second + addend, width);
  if (const auto framed = state_->framed.find(name); framed != state_->framed.end()) {
    const std::uint32_t start = constant(frames_begin_ + framed->second + addend, width), row = new_row(width);
    const std::uint32_t by = width == 8 ? program_.frame_row : new_row(width);
    if (width != 8) {
      Instruction& narrow = emit(fmt::format("cvt.u{}.u64", width * 8));
      narrow.a = program_.frame_row;
      narrow.d = by;
    }
    Instruction& sum = emit(fmt::format("add.u{}", width * 8));
    sum.d = row;
    sum.a = start;
    sum.b = by;
    return row;
  }
  if (const auto found = addresses_.find(name); found != addresses_.end()) return constant(found->second + addend, width);
  if (const auto found = parameter_offsets_.find(name); found != parameter_offsets_.end() && state_->function->entry)
    return special_row(Special::parameter_block, width, found->second + addend);
  refuse(fmt::format("\"{}\" is not declared", name));
}

// Registers may be wider than the type an instruction reads; then the low part is taken.
std::uint32_t Decoder::source(const Operand& operand, unsigned width, bool extend_sign) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const unsigned have = register_width(operand.reg);
      if (have == 0) refuse("a predicate stands where a value is expected");
      const std::uint32_t row = register_row(operand.reg);
      if (have == width) return row;
      const std::uint32_t fitted = new_row(width);
      if (width == 16 || have == 16) refuse("a 128-bit register stands where another is expected");
      Instruction& instruction = emit(fmt::format("cvt.u{}.{}{}", width * 8, extend_sign && width > have ? 's' : 'u', have * 8));
      instruction.a = row;
      instruction.d = fitted;
      return fitted;
    }
    case Operand::Kind::immediate: {
      std::uint64_t bits = operand.bits;
      if (operand.real && !operand.single && width == 4) bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      if (operand.real && operand.single && width == 8) bits = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      return constant(bits, width);
    }
    case Operand::Kind::special: return special(operand.name, width);
    case Operand::Kind::symbol: return symbol(operand.name, operand.bits, width);
    case Operand::Kind::vector: {
      const std::uint32_t packed = new_row(width);
      if (operand.elements.size() != 2 || width > 8) unknown();
      const unsigned half = width / 2;
      const std::uint32_t a = source(operand.elements[0], half), b = source(operand.elements[1], half);
      Instruction& instruction = emit(fmt::format("_pack.{}.{}", width, half));
      instruction.d = packed;
      instruction.a = a;
      instruction.b = b;
      return packed;
    }
    default: break;
  }
  refuse(fmt::format("\"{}\" has an operand that is not understood", statement_->opcode));
}

std::uint32_t Decoder::predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::sink) return new_row(0);
  if (operand.kind == Operand::Kind::immediate) return constant(operand.bits ? ~std::uint64_t{0} : 0, 4);
  if (operand.kind == Operand::Kind::special) {   // %is_explicit_cluster
    const std::uint32_t value = special(operand.name, 4), none = constant(0, 4), row = new_row(0);
    Instruction& test = emit("setp.ne.u32");
    test.d = row;
    test.a = value;
    test.b = none;
    return row;
  }
  if (operand.kind != Operand::Kind::reg || register_width(operand.reg) != 0)
    refuse(fmt::format("\"{}\" needs a predicate", statement_->opcode));
  return register_row(operand.reg);
}

std::uint32_t Decoder::destination(const Operand& operand, unsigned width, bool extend_sign) {
  if (operand.kind == Operand::Kind::sink) return new_row(width);
  if (operand.kind == Operand::Kind::vector && operand.elements.size() == 2 && width <= 8) {
    const std::uint32_t row = new_row(width);
    for (unsigned k = 0; k < 2; ++k) {
      if (operand.elements[k].kind == Operand::Kind::sink) continue;
      if (operand.elements[k].kind != Operand::Kind::reg || register_width(operand.elements[k].reg) != width / 2) unknown();
      unfinished_.push_back({fmt::format("_part.{}.{}.{}", width / 2, width, k), row, register_row(operand.elements[k].reg)});
    }
    return row;
  }
  if (operand.kind != Operand::Kind::reg) refuse(fmt::format("\"{}\" needs a register to write to", statement_->opcode));
  const unsigned have = register_width(operand.reg);
  if (have == 0) refuse("a predicate stands where a value is written");
  const std::uint32_t row = register_row(operand.reg);
  if (have == width) return row;
  if (have < width || have == 16) refuse(fmt::format("\"{}\" writes a register that is too small", statement_->opcode));
  const std::uint32_t narrow = new_row(width);
  unfinished_.push_back({fmt::format("cvt.u{}.{}{}", have * 8, extend_sign ? 's' : 'u', width * 8), narrow, row});
  return narrow;
}

void Decoder::finish_destinations() {
  std::vector<Unfinished> list;
  list.swap(unfinished_);
  for (const Unfinished& one : list) {
    Instruction& instruction = emit(one.conversion);
    instruction.a = one.from;
    instruction.d = one.to;
  }
}

}  // namespace cudal1::sim
