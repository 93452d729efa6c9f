// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <cstdio>

namespace cudal1::sim {

namespace {

bool read_shape(const Opcode& opcode, TensorFacts& facts) {
  for (const std::string& part : opcode.parts)
    if (std::sscanf(part.c_str(), "m%un%uk%u", &facts.m, &facts.n, &facts.k) == 3) return true;
  return false;
}

std::vector<Element> read_elements(const Opcode& opcode) {
  std::vector<Element> elements;
  for (const std::string& part : opcode.parts)
    if (const auto element = parse_element(part)) elements.push_back(*element);
  return elements;
}

bool known_shape(const TensorFacts& facts) {
  static constexpr unsigned shapes[][3] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}, {8, 8, 4}, {16, 8, 4},
                                           {16, 8, 8},   {16, 8, 16}, {16, 8, 32}, {8, 8, 16}};
  for (const auto& shape : shapes)
    if (shape[0] == facts.m && shape[1] == facts.n && shape[2] == facts.k) return true;
  return false;
}

}  // namespace

// Rows of a fragment's registers, appended to the lists; returns where they begin.
std::uint32_t Decoder::operand_list(const std::vector<const Operand*>& operands, unsigned width, bool writes) {
  std::vector<std::uint32_t> rows;
  for (const Operand* operand : operands) rows.push_back(writes ? destination(*operand, width, false) : source(*operand, width));
  const auto first = static_cast<std::uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), rows.begin(), rows.end());
  return first;
}

namespace {

std::vector<const Operand*> elements_of(const Operand& operand) {
  std::vector<const Operand*> list;
  if (operand.kind != Operand::Kind::vector) return {&operand};
  for (const Operand& one : operand.elements) list.push_back(&one);
  return list;
}

bool is_known(Element element) {
  return element == Element::f16 || element == Element::bf16 || element == Element::tf32 || element == Element::f32 || element == Element::f64 ||
         element == Element::s8 || element == Element::u8 || element == Element::s32;
}

}  // namespace

// mma.sync…row.col.D.A.B.C d, a, b, c and wmma.mma.sync….{row,col}.{row,col}.shape.D[.A.B].C
void Decoder::tensor_multiply(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  TensorFacts facts;
  facts.warp_level = opcode.mnemonic() == "wmma";
  facts.saturate = opcode.has("satfinite");
  const auto elements = read_elements(opcode);
  if (operands.size() != 4 || !read_shape(opcode, facts) || !known_shape(facts)) unknown();
  for (const std::string& part : opcode.parts)
    if (part == "sp" || part.starts_with("kind::") || part == "b1" || part == "s4" || part == "u4" || part == "e4m3" || part == "e5m2" || part == "sp::ordered_metadata") unknown();
  if (elements.size() == 4) facts.d = elements[0], facts.a = elements[1], facts.b = elements[2], facts.c = elements[3];
  else if (elements.size() == 2 && facts.warp_level) facts.d = elements[0], facts.c = elements[1];
  else unknown();
  if (!is_known(facts.a) || !is_known(facts.b) || !is_known(facts.c) || !is_known(facts.d)) unknown();
  if (!facts.warp_level && facts.m == 8 && facts.a == Element::f16) unknown();  // Volta's quad pairs
  const auto width = [](Element element) { return std::max(4u, bytes_of(element)); };
  const auto d = elements_of(operands[0]), a = elements_of(operands[1]), b = elements_of(operands[2]), c = elements_of(operands[3]);
  const auto enough = [&](Part part, std::size_t registers) {
    return registers * register_elements(facts.element(part)) >= fragment_elements(facts, part);
  };
  if (!enough(Part::d, d.size()) || !enough(Part::a, a.size()) || !enough(Part::b, b.size()) || !enough(Part::c, c.size())) unknown();
  facts.d_registers = static_cast<unsigned>(d.size()), facts.a_registers = static_cast<unsigned>(a.size());
  facts.b_registers = static_cast<unsigned>(b.size()), facts.c_registers = static_cast<unsigned>(c.size());
  // Sources first: reading may need conversions of its own. The lists are contiguous because nothing else appends meanwhile.
  const std::uint32_t list = operand_list(d, width(facts.d), true);
  operand_list(a, width(facts.a), false);
  operand_list(b, width(facts.b), false);
  operand_list(c, width(facts.c), false);
  program_.tensors.push_back(facts);
  const bool integer = facts.a == Element::s8 || facts.a == Element::u8;
  Instruction& instruction = emit(integer ? "_mma.integer" : facts.a == Element::f64 ? "_mma.double" : "_mma.float");
  instruction.list = list;
  instruction.extra = static_cast<std::uint32_t>(program_.tensors.size() - 1);
  finish_destinations();
}

// wmma.load.{a,b,c}.sync.aligned.LAYOUT.SHAPE[.SPACE].TYPE {…}, [p], stride and wmma.store.d with [p], {…}, stride
void Decoder::tensor_load(const Opcode& opcode, bool store) {
  const auto& operands = statement_->operands;
  TensorFacts facts;
  facts.warp_level = true;
  const auto elements = read_elements(opcode);
  if (operands.size() < 2 || elements.size() != 1 || !read_shape(opcode, facts) || !known_shape(facts) || !is_known(elements[0])) unknown();
  facts.part = opcode.has("a") ? Part::a : opcode.has("b") ? Part::b : Part::c;
  facts.column_major = opcode.has("col");
  facts.a = facts.b = facts.c = facts.d = elements[0];
  const Operand& memory = operands[store ? 0 : 1];
  const auto registers = elements_of(operands[store ? 1 : 0]);
  if (registers.size() * register_elements(elements[0]) < fragment_elements(facts, facts.part)) unknown();
  const Space space = space_of(opcode);
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(memory, space, offset);
  const std::uint32_t stride = operands.size() > 2 ? source(operands[2], 4) : nowhere;
  const std::uint32_t list = operand_list(registers, std::max(4u, bytes_of(elements[0])), !store);
  const std::uint32_t site = new_site(space == Space::shared ? SiteFacts::Kind::shared : store ? SiteFacts::Kind::store : SiteFacts::Kind::load);
  program_.tensors.push_back(facts);
  Instruction& instruction = emit(store ? "_wmma.store" : "_wmma.load");
  instruction.a = address;
  instruction.b = stride;
  instruction.immediate = offset;
  instruction.d = static_cast<std::uint32_t>(space == Space::global ? Space::generic : space);
  instruction.list = list;
  instruction.site = site;
  instruction.extra = static_cast<std::uint32_t>(program_.tensors.size() - 1);
  finish_destinations();
}

void Decoder::matrix_load(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const bool store = opcode.mnemonic() == "stmatrix";
  TensorFacts facts;
  facts.matrices = opcode.has("x4") ? 4 : opcode.has("x2") ? 2 : 1;
  facts.transposed = opcode.has("trans");
  if (operands.size() != 2 || !opcode.has("m8n8") || !opcode.has("b16")) unknown();
  const auto registers = elements_of(operands[store ? 1 : 0]);
  if (registers.size() != facts.matrices) unknown();
  const Space space = space_of(opcode);
  std::int64_t offset = 0;
  const std::uint32_t address = address_row(operands[store ? 0 : 1], space, offset);
  const std::uint32_t list = operand_list(registers, 4, !store);
  const std::uint32_t site = new_site(SiteFacts::Kind::shared);
  program_.tensors.push_back(facts);
  Instruction& instruction = emit(store ? "_stmatrix" : "_ldmatrix");
  instruction.a = address;
  instruction.immediate = offset;
  instruction.d = static_cast<std::uint32_t>(space);
  instruction.list = list;
  instruction.site = site;
  instruction.extra = static_cast<std::uint32_t>(program_.tensors.size() - 1);
  finish_destinations();
}

bool Decoder::tensor(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  if (m == "ldmatrix" || m == "stmatrix") matrix_load(opcode);
  else if (m == "mma" || (m == "wmma" && opcode.has("mma"))) tensor_multiply(opcode);
  else if (m == "wmma" && (opcode.has("load") || opcode.has("store"))) tensor_load(opcode, opcode.has("store"));
  else return false;
  return true;
}

}  // namespace cudal1::sim
