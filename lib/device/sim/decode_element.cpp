// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

Instruction& Decoder::emit(const std::string& name) {
  const auto found = operations().find(name);
  if (found == operations().end()) unknown();
  Instruction instruction;
  const bool guarded = statement_->guard >= 0;
  instruction.run = {guarded ? found->second.partial : found->second.full, found->second.partial};
  instruction.statement = statement_index_;
  program_.instructions.push_back(instruction);
  program_.operations.push_back(&found->first);
  return program_.instructions.back();
}

void Decoder::ordinary(const Opcode& opcode) {
  if (asynchronous_proxy(opcode) || memory(opcode) || tensor(opcode) || element(opcode)) return;
  unknown();
}

std::string Decoder::canonical_name(const Opcode& opcode) const {
  const std::string& m = opcode.mnemonic();
  std::string name = opcode.text;
  if (m == "vote") {
    // The older spelling puts .sync last.
    const std::string rest = opcode.without({"vote", "sync"});
    name = opcode.has("sync") ? "vote.sync." + rest : "vote." + rest;
  } else if (m == "cvta" || m == "isspacep") {
    const bool whole_cluster = m == "isspacep" && opcode.has("shared::cluster");
    if (const auto at = name.find("::"); at != std::string::npos && !whole_cluster) name.erase(at, name.find('.', at) == std::string::npos ? std::string::npos : name.find('.', at) - at);
  } else if (m == "mapa" || m == "getctarank") {
    name = opcode.without({"shared::cluster"});
  } else if ((m == "min" || m == "max") && statement_->operands.size() == 4) {
    name += ".3";
  } else if (m == "barrier" || m == "bar") {
    name = "bar.warp.sync";
  } else if (m == "elect") {
    name = "elect.sync";
  }
  return name;
}

void Decoder::apply_shape(const std::string& name, const std::string& shape, bool extend_sign) {
  const auto& operands = statement_->operands;
  std::uint32_t sources[4] = {nowhere, nowhere, nowhere, nowhere};
  std::uint32_t d = nowhere, second = nowhere, carry = nowhere;
  std::size_t operand = 0, source_count = 0;
  bool negated = false;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const char letter = shape[k];
    if (letter == '_') continue;
    if (letter == '?') {
      if (operands.at(0).second >= 0) second = register_row(operands[0].second);
      continue;
    }
    if (letter == 'c') {
      if (carry_row_ == nowhere) carry_row_ = new_row(0);
      carry = carry_row_;
      continue;
    }
    if (operand >= operands.size()) refuse(fmt::format("\"{}\" has too few operands", statement_->opcode));
    const Operand& one = operands[operand++];
    const unsigned width = letter == 'q' ? 16 : static_cast<unsigned>(letter - '0');
    if (k == 0) {
      d = letter == 'p' ? predicate(one) : destination(one, width, extend_sign);
    } else if (source_count < 4) {
      negated |= one.negated;
      if (one.negated && letter == 'p') refuse(fmt::format("\"{}\" does not take a negated predicate", statement_->opcode));
      sources[source_count++] = letter == 'p' || letter == 'n' ? predicate(one) : source(one, width);
    }
  }
  if (operand != operands.size()) refuse(fmt::format("\"{}\" has too many operands", statement_->opcode));
  Instruction& instruction = emit(name);
  instruction.d = d;
  instruction.a = sources[0];
  instruction.b = sources[1];
  instruction.c = sources[2];
  instruction.extra = carry != nowhere ? carry : sources[3];
  instruction.list = second;
  instruction.immediate = negated;
  finish_destinations();
}

bool Decoder::packed(const Opcode& opcode) {
  if (!opcode.text.ends_with(".f32x2")) return false;
  const std::string name = opcode.text.substr(0, opcode.text.size() - 2);
  const auto found = operations().find(name);
  const auto& operands = statement_->operands;
  if (found == operations().end() || found->second.shape != std::string(operands.size(), '4')) return false;
  std::vector<std::uint32_t> sources, results;
  for (std::size_t k = 1; k < operands.size(); ++k) sources.push_back(source(operands[k], 8));
  const std::uint32_t d = destination(operands[0], 8, false);
  for (int half = 0; half < 2; ++half) {
    std::vector<std::uint32_t> parts;
    for (const std::uint32_t whole : sources) {
      parts.push_back(new_row(4));
      Instruction& instruction = emit(fmt::format("_part.4.8.{}", half));
      instruction.d = parts.back();
      instruction.a = whole;
    }
    results.push_back(new_row(4));
    Instruction& instruction = emit(name);
    instruction.d = results.back();
    instruction.a = parts.at(0);
    if (parts.size() > 1) instruction.b = parts[1];
    if (parts.size() > 2) instruction.c = parts[2];
  }
  Instruction& instruction = emit("_pack.8.4");
  instruction.d = d;
  instruction.a = results[0];
  instruction.b = results[1];
  finish_destinations();
  return true;
}

bool Decoder::element(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  if (packed(opcode)) return true;
  if (m == "setp") return compare(opcode), true;
  if (m == "set") return compare_to_value(opcode), true;
  if (m == "mov") return move(opcode);
  static constexpr std::string_view nothing[] = {"prefetch", "prefetchu", "discard", "applypriority", "griddepcontrol", "setmaxnreg", "pmevent", "createpolicy"};
  if (std::find(std::begin(nothing), std::end(nothing), m) != std::end(nothing)) return true;
  if (m == "membar" || m == "fence") {
    const bool narrow = opcode.has("cta");
    if (narrow || opcode.has("proxy")) return true;
    program_.fixed_order = program_.orders_itself = true;
    emit("_fence");
    return true;
  }
  const bool same_address = m == "cvta" && !opcode.has("shared") && !opcode.has("shared::cta") && !opcode.has("local");
  if (same_address && statement_->operands.size() == 2 && opcode.has("u64") &&
      alias(statement_->operands[0], source(statement_->operands[1], 8), 8))
    return true;
  const std::string name = canonical_name(opcode);
  const auto found = operations().find(name);
  if (found == operations().end() || name.front() == '_' || found->second.shape.empty()) return false;
  apply_shape(name, found->second.shape, is_signed(parse_element(opcode.parts.size() > 2 ? opcode.parts[opcode.parts.size() - 2] : "").value_or(Element::b32)));
  return true;
}

// setp.CMP[.BOOL][.ftz].type p[|q], a, b[, c]: a comparison, then logic on masks.
void Decoder::compare(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  const bool combined = opcode.has("and") || opcode.has("or") || opcode.has("xor");
  const std::string logic = opcode.has("and") ? "and.pred" : opcode.has("or") ? "or.pred" : "xor.pred";
  if (operands.size() != (combined ? 4u : 3u)) refuse(fmt::format("\"{}\" has a wrong number of operands", statement_->opcode));
  const std::string name = opcode.without({"and", "or", "xor"});
  const auto found = operations().find(name);
  if (found == operations().end() || found->second.shape.size() != 3) unknown();
  const unsigned width = static_cast<unsigned>(found->second.shape[1] - '0');
  const std::uint32_t p = predicate(operands[0]);
  const std::uint32_t q = operands[0].second >= 0 ? register_row(operands[0].second) : nowhere;
  const std::uint32_t a = source(operands[1], width), b = source(operands[2], width);
  if (!combined && q == nowhere) {
    Instruction& instruction = emit(name);
    instruction.d = p;
    instruction.a = a;
    instruction.b = b;
    return;
  }
  const std::uint32_t result = new_row(0);
  const auto logical = [&](const std::string& operation, std::uint32_t d, std::uint32_t x, std::uint32_t y) {
    Instruction& instruction = emit(operation);
    instruction.d = d;
    instruction.a = x;
    instruction.b = y;
  };
  Instruction& instruction = emit(name);
  instruction.d = result;
  instruction.a = a;
  instruction.b = b;
  std::uint32_t other = nowhere;
  if (combined) {
    other = predicate(operands[3]);
    const std::uint32_t kept = new_row(0);
    logical(operands[3].negated ? "not.pred" : "mov.pred", kept, other, other);
    other = kept;
  }
  if (q != nowhere) {
    const std::uint32_t inverse = new_row(0);
    logical("not.pred", inverse, result, result);
    combined ? logical(logic, q, inverse, other) : logical("mov.pred", q, inverse, inverse);
  }
  combined ? logical(logic, p, result, other) : logical("mov.pred", p, result, result);
}

void Decoder::compare_halves(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  Opcode comparison = split_opcode("setp" + opcode.text.substr(3, opcode.text.size() - 5));
  comparison.parts.erase(comparison.parts.end() - 2);
  const std::string& into = opcode.parts[opcode.parts.size() - 2];
  const std::uint32_t yes = constant(into == "f16x2" ? 0x3c00 : into == "bf16x2" ? 0x3f80 : 0xffff, 2), no = constant(0, 2);
  const std::uint32_t a = source(operands[1], 4), b = source(operands[2], 4), d = destination(operands[0], 4, false);
  const auto binary = [&](const std::string& operation, std::uint32_t left, std::uint32_t right, unsigned width) {
    const std::uint32_t row = new_row(width);
    Instruction& instruction = emit(operation);
    instruction.d = row;
    instruction.a = left;
    instruction.b = right;
    return row;
  };
  std::uint32_t halves[2];
  for (int half = 0; half < 2; ++half) {
    const std::string part = fmt::format("_part.2.4.{}", half);
    const std::uint32_t left = binary(part, a, a, 2), right = binary(part, b, b, 2);
    const std::uint32_t holds = binary(comparison.without({}), left, right, 0);
    halves[half] = binary("selp.b16", yes, no, 2);
    program_.instructions.back().c = holds;
  }
  Instruction& instruction = emit("_pack.4.2");
  instruction.d = d;
  instruction.a = halves[0];
  instruction.b = halves[1];
  finish_destinations();
}

// set.CMP[.BOOL][.ftz].dtype.stype d, a, b[, c]: all ones or 1.0 where the comparison holds; in each half of a packed type.
void Decoder::compare_to_value(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  if (opcode.parts.size() < 4 || operands.size() < 3) unknown();
  if (opcode.parts.back().ends_with("16x2")) return compare_halves(opcode);
  const std::string into = opcode.parts[opcode.parts.size() - 2];
  const auto element = parse_element(into);
  if (!element) unknown();
  const bool combined = opcode.has("and") || opcode.has("or") || opcode.has("xor");
  Opcode comparison = split_opcode("setp" + opcode.text.substr(3));
  comparison.parts.erase(comparison.parts.end() - 2);
  const std::string name = comparison.without({"and", "or", "xor"});
  const auto found = operations().find(name);
  if (found == operations().end() || found->second.shape.size() != 3) unknown();
  const unsigned width = static_cast<unsigned>(found->second.shape[1] - '0'), wide = std::max(2u, bytes_of(*element));
  const std::uint32_t a = source(operands[1], width), b = source(operands[2], width);
  const std::uint32_t result = new_row(0);
  Instruction& test = emit(name);
  test.d = result;
  test.a = a;
  test.b = b;
  if (combined) {
    if (operands.size() != 4) unknown();
    std::uint32_t other = predicate(operands[3]);
    if (operands[3].negated) {
      const std::uint32_t inverse = new_row(0);
      Instruction& instruction = emit("not.pred");
      instruction.d = inverse;
      instruction.a = instruction.b = other;
      other = inverse;
    }
    Instruction& instruction = emit(opcode.has("and") ? "and.pred" : opcode.has("or") ? "or.pred" : "xor.pred");
    instruction.d = instruction.a = result;
    instruction.b = other;
  }
  const std::uint64_t truth = *element == Element::f32 ? 0x3f800000 : *element == Element::f16 ? 0x3c00 : *element == Element::bf16 ? 0x3f80 : ~std::uint64_t{0};
  const std::uint32_t d = destination(operands[0], wide, false);
  const std::uint32_t yes = constant(truth, wide), no = constant(0, wide);
  Instruction& instruction = emit(fmt::format("selp.b{}", wide * 8));
  instruction.d = d;
  instruction.a = yes;
  instruction.b = no;
  instruction.c = result;
  finish_destinations();
}

bool Decoder::alias(const Operand& into, std::uint32_t row, unsigned width) {
  if (into.kind != Operand::Kind::reg || statement_->guard >= 0 || !fixed_rows_.contains(row)) return false;
  const auto reg = static_cast<std::size_t>(into.reg);
  if (register_width(into.reg) != width || state_->writes[reg] != 1 || state_->rows[reg] != nowhere) return false;
  state_->rows[reg] = row;
  return true;
}

bool Decoder::move(const Opcode& opcode) {
  const auto& operands = statement_->operands;
  if (operands.size() != 2) return false;
  const Element type = opcode.type();
  if (type == Element::pred) {
    apply_shape("mov.pred", "pp", false);
    return true;
  }
  const unsigned width = std::max(2u, bytes_of(type));
  if (operands[0].kind == Operand::Kind::vector) {
    const std::uint32_t from = source(operands[1], width);
    const std::size_t count = operands[0].elements.size();
    if (count != 2 && count != 4) return false;
    const unsigned part = width / static_cast<unsigned>(count);
    for (std::size_t k = 0; k < count; ++k) {
      const Operand& one = operands[0].elements[k];
      if (one.kind == Operand::Kind::sink) continue;
      const std::uint32_t d = destination(one, part, false);
      Instruction& instruction = emit(fmt::format("_part.{}.{}.{}", part, width == 16 ? std::string("q") : std::to_string(width), k));
      instruction.d = d;
      instruction.a = from;
      finish_destinations();
    }
    return true;
  }
  if (operands[1].kind == Operand::Kind::vector) {
    std::vector<std::uint32_t> parts;
    const std::size_t count = operands[1].elements.size();
    if (count != 2 && count != 4) return false;
    unsigned part = width / static_cast<unsigned>(count);
    for (const Operand& one : operands[1].elements) parts.push_back(source(one, part));
    while (parts.size() > 1) {
      std::vector<std::uint32_t> joined;
      for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
        const bool last = parts.size() == 2;
        const std::uint32_t d = last ? destination(operands[0], width, false) : new_row(part * 2);
        Instruction& instruction = emit(fmt::format("_pack.{}.{}", part * 2 == 16 ? std::string("q") : std::to_string(part * 2), part));
        instruction.d = d;
        instruction.a = parts[k];
        instruction.b = parts[k + 1];
        joined.push_back(d);
      }
      parts = joined;
      part *= 2;
    }
    finish_destinations();
    return true;
  }
  const std::uint32_t from = source(operands[1], width);
  if (alias(operands[0], from, width)) return true;
  const std::uint32_t d = destination(operands[0], width, is_signed(type));
  Instruction& instruction = emit(fmt::format("mov.b{}", width * 8));
  instruction.d = d;
  instruction.a = from;
  finish_destinations();
  return true;
}

}  // namespace cudal1::sim
