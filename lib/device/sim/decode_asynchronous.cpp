// SPDX-License-Identifier: Apache-2.0
// Hopper's asynchronous operations: wgmma, bulk and tensor copies, and the fence between the two ways to shared memory.
#include "sim/bulk_reduction.hpp"
#include "sim/decoder.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace cudal1::sim {

namespace {

bool is_modifier(const std::string& part) { return part.starts_with("L2::") || part == "tile" || part == "shared::cluster" || part == "shared::cta" || part == "global"; }

}  // namespace

// An address whose further elements (coordinates) are somebody else's business.
std::uint32_t Decoder::plain_address(const Operand& operand, Space space, std::int64_t& offset) {
  Operand plain = operand;
  plain.elements.clear();
  const std::uint32_t address = address_row(plain, space, offset);
  if (offset != static_cast<std::int32_t>(offset)) unknown();
  return address;
}

// wgmma.mma_async.sync.aligned.m64nNkK.D.A.B d, a, b, scale-d[, imm-scale-a, imm-scale-b[, imm-trans-a][, imm-trans-b]]
void Decoder::warpgroup_multiply(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  TensorFacts facts;
  std::vector<Element> elements;
  bool shape = false;
  for (const std::string& part : opcode.parts) {
    if (const auto element = parse_element(part)) elements.push_back(*element);
    shape |= std::sscanf(part.c_str(), "m%un%uk%u", &facts.m, &facts.n, &facts.k) == 3;
    if (part == "sp" || part == "b1" || part == "satfinite") unknown();
  }
  if (!shape || elements.size() != 3 || operands.size() < 4) unknown();
  facts.d = facts.c = elements[0], facts.a = elements[1], facts.b = elements[2];
  const bool small = facts.a == Element::f16 || facts.a == Element::bf16;
  const bool eight = bytes_of(facts.a) == 1 && bytes_of(facts.b) == 1 && is_float(facts.a) && is_float(facts.b);
  const bool known = (eight ? facts.k == 32 : facts.a == facts.b && (small ? facts.k == 16 : facts.a == Element::tf32 && facts.k == 8)) &&
                     (facts.d == Element::f32 || (facts.d == Element::f16 && (facts.a == Element::f16 || eight)));
  if (!known || facts.m != 64 || facts.n < 8 || facts.n > 256 || facts.n % 8 != 0) unknown();
  const auto immediate = [&](std::size_t k) -> std::int64_t {
    if (operands.size() <= k) return 0;
    if (operands[k].kind != Operand::Kind::immediate) unknown();
    return static_cast<std::int64_t>(operands[k].bits);
  };
  const bool in_registers = operands[1].kind == Operand::Kind::vector;
  facts.negate_a = immediate(4) == -1, facts.negate_b = immediate(5) == -1;
  if (small && in_registers) facts.transposed_b = immediate(6) == 1;
  if (small && !in_registers) facts.transposed = immediate(6) == 1, facts.transposed_b = immediate(7) == 1;
  std::vector<const Operand*> d, a;
  for (const Operand& one : operands[0].elements) d.push_back(&one);
  facts.d_registers = static_cast<unsigned>(d.size());
  if (facts.d_registers != facts.n / (facts.d == Element::f16 ? 4 : 2)) refuse("wgmma has another number of accumulators than its shape");
  if (in_registers) {
    for (const Operand& one : operands[1].elements) a.push_back(&one);
    if (a.size() != 4) unknown();
    facts.a_registers = 4;
  }
  const std::uint32_t left = in_registers ? nowhere : source(operands[1], 8);
  const std::uint32_t right = source(operands[2], 8), keep = predicate(operands[3]);
  const std::uint32_t list = operand_list(d, 4, true);
  operand_list(a, 4, false);
  program_.tensors.push_back(facts);
  Instruction& instruction = emit("_wgmma");
  instruction.a = left;
  instruction.b = right;
  instruction.c = keep;
  instruction.list = list;
  instruction.extra = static_cast<std::uint32_t>(program_.tensors.size() - 1);
  finish_destinations();
  if (statement_->guard < 0) end_segment(Segment::End::fall);  // what follows is watched
}

// What a reduction does with its elements; both 0 for a plain copy.
void Decoder::bulk_reduction(const Opcode& opcode, std::uint32_t& operation, std::uint32_t& element) {
  operation = element = 0;
  if (opcode.parts[1] != "reduce") return;
  std::optional<BulkReduction> known;
  for (const std::string& part : opcode.parts)
    if (const auto one = parse_bulk_reduction(part)) known = one;
  const std::optional<Element> type = parse_element(opcode.parts.back());
  operation = known ? 1 + static_cast<std::uint32_t>(*known) : 0;
  element = type ? static_cast<std::uint32_t>(*type) : 0;
}

// cp.async.bulk.shared.global.mbarrier::complete_tx::bytes[.multicast::cluster] [to], [from], bytes, [barrier][, mask];
// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes and cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32, the same
void Decoder::bulk_copy(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const std::size_t into = opcode.parts[1] == "reduce" ? 4 : 3;
  const bool load = opcode.has("mbarrier::complete_tx::bytes"), multicast = opcode.has("multicast::cluster"), reduces = into == 4;
  std::uint32_t reduction = 0, element = 0;
  bulk_reduction(opcode, reduction, element);
  for (std::size_t k = into; k < opcode.parts.size(); ++k) {
    const std::string& part = opcode.parts[k];
    const bool reducing = reduces && (part == "noftz" || k + 2 >= opcode.parts.size());
    if (!is_modifier(part) && part != "mbarrier::complete_tx::bytes" && part != "bulk_group" && part != "multicast::cluster" && !reducing) unknown();
  }
  if (opcode.parts.size() < into + 3 || (!load && !opcode.has("bulk_group")) || (opcode.parts[into] == "global") == load) unknown();
  if (reduces && (load || reduction == 0 || element == 0 || !has_bulk_reduction(static_cast<BulkReduction>(reduction - 1), static_cast<Element>(element)))) unknown();
  const bool from_shared = load && opcode.parts[into + 1] != "global";
  std::int64_t to_offset = 0, from_offset = 0, barrier_offset = 0;
  const std::uint32_t to = plain_address(operands.at(0), load ? Space::shared : Space::global, to_offset);
  const std::uint32_t from = plain_address(operands.at(1), load && !from_shared ? Space::global : Space::shared, from_offset);
  const std::uint32_t bytes = source(operands.at(2), 4);
  const std::uint32_t barrier = load ? plain_address(operands.at(3), Space::shared, barrier_offset) : nowhere;
  const std::uint32_t mask = multicast ? source(operands.at(4), 2) : nowhere;
  if (load) ordered_access_ = program_.orders_in_shared = true;
  if (reduces) program_.fixed_order = true;   // sums in another order are other sums
  const std::uint32_t site = new_site(reduces ? SiteFacts::Kind::atomic : from_shared ? SiteFacts::Kind::shared : load ? SiteFacts::Kind::load : SiteFacts::Kind::store);
  const auto list = static_cast<std::uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), {static_cast<std::uint32_t>(to_offset), static_cast<std::uint32_t>(from_offset),
                                               static_cast<std::uint32_t>(barrier_offset), mask, from_shared});
  Instruction& instruction = emit(load ? "_bulk.load" : "_bulk.store");
  instruction.d = to;
  instruction.a = from;
  instruction.b = barrier;
  instruction.c = bytes;
  instruction.list = list;
  instruction.site = site;
  instruction.extra = reduction;
  instruction.immediate = element;
}

// cp.async.bulk.tensor.2d.shared.global.tile.mbarrier::complete_tx::bytes[.multicast::cluster] [to], [map, {x, y}], [barrier][, mask];
// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [map, {x, y}], [from] and cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group, the same
void Decoder::tensor_copy(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const bool load = opcode.has("mbarrier::complete_tx::bytes"), multicast = opcode.has("multicast::cluster"), reduces = opcode.parts[1] == "reduce";
  std::uint32_t rank = 0, reduction = 0;
  for (std::size_t k = reduces ? 5 : 4; k < opcode.parts.size(); ++k) {
    const std::string& part = opcode.parts[k];
    if (part.size() == 2 && part[1] == 'd' && part[0] >= '1' && part[0] <= '5') rank = static_cast<std::uint32_t>(part[0] - '0');
    else if (const auto known = reduces ? parse_bulk_reduction(part) : std::nullopt) reduction = 1 + static_cast<std::uint32_t>(*known);
    else if (!is_modifier(part) && part != "mbarrier::complete_tx::bytes" && part != "bulk_group" && part != "multicast::cluster") unknown();
  }
  if (rank == 0 || (!load && !opcode.has("bulk_group")) || reduces != (reduction > 0) || (reduces && load)) unknown();
  const Operand& map = operands.at(load ? 1 : 0);
  if (map.elements.size() != 1 || map.elements[0].elements.size() != rank) unknown();
  std::int64_t map_offset = 0, shared_offset = 0, barrier_offset = 0;
  const std::uint32_t map_row = plain_address(map, Space::generic, map_offset);
  const std::uint32_t shared = plain_address(operands.at(load ? 0 : 1), Space::shared, shared_offset);
  const std::uint32_t barrier = load ? plain_address(operands.at(2), Space::shared, barrier_offset) : nowhere;
  const std::uint32_t mask = multicast ? source(operands.at(3), 2) : nowhere;
  std::vector<std::uint32_t> rows;
  for (const Operand& one : map.elements[0].elements) rows.push_back(source(one, 4));
  if (load) ordered_access_ = program_.orders_in_shared = true;
  if (reduces) program_.fixed_order = true;
  const std::uint32_t site = new_site(reduces ? SiteFacts::Kind::atomic : load ? SiteFacts::Kind::load : SiteFacts::Kind::store);
  const auto list = static_cast<std::uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), {static_cast<std::uint32_t>(shared_offset), static_cast<std::uint32_t>(map_offset),
                                               static_cast<std::uint32_t>(barrier_offset), rank, mask});
  program_.lists.insert(program_.lists.end(), rows.begin(), rows.end());
  Instruction& instruction = emit(load ? "_bulk.tensor.load" : "_bulk.tensor.store");
  instruction.d = shared;
  instruction.a = map_row;
  instruction.b = barrier;
  instruction.list = list;
  instruction.site = site;
  instruction.extra = reduction;
}

bool Decoder::asynchronous_proxy(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  const auto& operands = statement_->operands;
  if (m == "wgmma") {
    if (opcode.has("mma_async")) return warpgroup_multiply(opcode), true;
    if (opcode.has("fence")) return emit("_wgmma.fence"), true;
    if (opcode.has("commit_group")) return emit("_wgmma.commit"), true;
    if (!opcode.has("wait_group")) return false;
    emit("_wgmma.wait").immediate = static_cast<std::int64_t>(operands.at(0).bits);
    return true;
  }
  if (m == "fence" && opcode.has("mbarrier_init")) return true;
  if (m == "fence" && opcode.has("proxy") && opcode.parts.size() > 2 && opcode.parts[2].starts_with("async")) return emit("_fence.proxy"), true;
  const std::size_t reduces = opcode.parts.size() > 1 && opcode.parts[1] == "reduce";
  if (m != "cp" || !opcode.has("bulk") || opcode.parts.size() < 4 + reduces || opcode.parts[1 + reduces] != "async") return false;
  const std::string& what = opcode.parts[3 + reduces];
  if (what == "prefetch") return true;
  if (what == "commit_group") return emit("_bulk.commit"), true;
  if (what == "wait_group") {
    emit("_bulk.wait").immediate = static_cast<std::int64_t>(operands.at(0).bits);
    return true;
  }
  what == "tensor" ? tensor_copy(opcode) : bulk_copy(opcode);
  return true;
}

}  // namespace cudal1::sim
