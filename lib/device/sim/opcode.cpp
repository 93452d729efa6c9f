// SPDX-License-Identifier: Apache-2.0
#include "sim/decoder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace cudal1::sim {

bool Opcode::has(std::string_view part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }

std::string Opcode::without(std::initializer_list<std::string_view> dropped) const {
  std::string joined;
  for (const std::string& part : parts) {
    if (std::find(dropped.begin(), dropped.end(), part) != dropped.end()) continue;
    if (!joined.empty()) joined += '.';
    joined += part;
  }
  return joined;
}

Element Opcode::type() const {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (const auto element = parse_element(*part)) return *element;
  return Element::b32;
}

Opcode split_opcode(const std::string& text) {
  Opcode opcode;
  opcode.text = text;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t dot = std::min(text.find('.', start), text.size());
    opcode.parts.push_back(text.substr(start, dot - start));
    start = dot + 1;
  }
  return opcode;
}

namespace {

double flops_of(const Opcode& opcode) {
  const std::string& m = opcode.mnemonic();
  const double packed = opcode.type() == Element::f16x2 || opcode.type() == Element::bf16x2 ? 2 : 1;
  if (m == "fma" || m == "mad") return 2 * packed;
  if (m == "add" || m == "sub" || m == "mul" || m == "div" || m == "rcp" || m == "sqrt" || m == "rsqrt" || m == "ex2" || m == "lg2" ||
      m == "sin" || m == "cos" || m == "tanh" || m == "min" || m == "max")
    return packed;
  return 0;
}

// "m16n8k16" → 2·16·8·16
double tensor_flops(const Opcode& opcode) {
  for (const std::string& part : opcode.parts) {
    int m = 0, n = 0, k = 0;
    if (part.size() > 4 && part[0] == 'm' && std::sscanf(part.c_str(), "m%dn%dk%d", &m, &n, &k) == 3) return 2.0 * m * n * k;
  }
  return 0;
}

}  // namespace

void classify(StatementFacts& facts) {
  const Opcode opcode = split_opcode(facts.opcode);
  const std::string& m = opcode.mnemonic();
  const Element type = opcode.type();
  static constexpr std::array controls = {"bra", "ret", "exit", "bar", "barrier", "call", "trap", "nanosleep", "membar", "fence"};
  static constexpr std::array specials = {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"};
  const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), m) != list.end(); };
  if (among(controls) || (m == "wgmma" && !opcode.has("mma_async"))) facts.work = Work::control;
  else if (m == "wgmma") facts.work = Work::tensor, facts.flops = tensor_flops(opcode) / 4;  // four warps run it together
  else if (opcode.has("mma")) facts.work = Work::tensor, facts.flops = tensor_flops(opcode);
  else if (m == "mma") facts.work = Work::tensor, facts.flops = tensor_flops(opcode);
  else if (m == "ld" || m == "st" || m == "atom" || m == "red" || m == "cp" || m == "ldmatrix" || m == "wmma" || m == "stmatrix") facts.work = opcode.has("param") ? Work::move : Work::memory;
  else if (among(specials) || ((m == "rcp" || m == "sqrt" || m == "div") && opcode.has("approx"))) facts.work = Work::special;
  else if (m == "mov" || m == "cvta" || m == "selp") facts.work = Work::move;
  else if (m == "cvt") facts.work = Work::conversion;
  else if (type == Element::f32) facts.work = Work::fp32;
  else if (type == Element::f64) facts.work = Work::fp64;
  else if (is_float(type)) facts.work = Work::fp16;
  else facts.work = Work::integer;
  if (facts.work == Work::fp32 || facts.work == Work::fp64 || facts.work == Work::fp16 || facts.work == Work::special) facts.flops = flops_of(opcode);
}

}  // namespace cudal1::sim
