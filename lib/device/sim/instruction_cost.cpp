// SPDX-License-Identifier: Apache-2.0
// Machine code is not looked at: these are the expansions that ptxas makes of PTX for Ampere to Hopper, rounded. Latencies are
// those that Luo and others measured ("Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", arXiv:2402.13499).
#include "sim/instruction_cost.hpp"

#include "sim/decoder.hpp"

#include <cstdio>

namespace cudal1::sim {

namespace {

InstructionCost integer(double count, double latency = 5) {
  InstructionCost cost;
  cost.slots = cost.integer = count;
  cost.latency = latency;
  return cost;
}
// Sums and products of integers can run on half of the FP32 lanes too.
InstructionCost shared_integer(double count, double latency = 5) {
  InstructionCost cost = integer(count, latency);
  cost.integer = count / 2;
  return cost;
}
InstructionCost free_of_charge(double slots = 0) {
  InstructionCost cost;
  cost.slots = slots;
  cost.latency = 0;
  return cost;
}
InstructionCost special(double others, double count, double latency) {
  InstructionCost cost;
  cost.slots = others + count;
  cost.fp32 = others;
  cost.special = count;
  cost.latency = latency;
  return cost;
}

// Both operands are taken to lie in shared memory; the four warps of a warpgroup share the reading of B.
InstructionCost warpgroup_product(const Opcode& opcode) {
  InstructionCost cost;
  cost.latency = 0;   // the wait for its group has it
  for (const std::string& part : opcode.parts) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(part.c_str(), "m%un%uk%u", &m, &n, &k) != 3) continue;
    const double bytes = opcode.has("tf32") ? 4 : opcode.has("e4m3") || opcode.has("e5m2") ? 1 : 2;
    cost.product_flops = 2.0 * 16 * n * k;
    cost.products = cost.product_flops * bytes / 2;
    cost.operands = (16.0 + n / 4.0) * k * bytes / 128;
  }
  return cost;
}

InstructionCost floating(const Opcode& opcode, Element type) {
  const std::string& m = opcode.mnemonic();
  InstructionCost cost;
  cost.latency = 4;
  const bool approximate = opcode.has("approx"), full = opcode.has("full");
  if (type == Element::f64) {
    const double count = m == "div" || m == "rcp" ? 12 : m == "sqrt" || m == "rsqrt" ? 16 : 1;
    cost.slots = cost.fp64 = count;
    cost.special = count > 1;
    cost.latency = 16 * count / 2 + 8;
    return cost;
  }
  if (type != Element::f32) {
    cost.half = 1;
    cost.latency = 5;
    return cost;
  }
  if (m == "ex2" || m == "lg2" || m == "rsqrt") return special(opcode.has("ftz") ? 0 : 3, 1, opcode.has("ftz") ? 23 : 35);
  if (m == "sin" || m == "cos") return special(1, 1, 28);
  if (m == "tanh") return special(0, 1, 23);
  if (m == "rcp" || m == "sqrt") return approximate ? special(opcode.has("ftz") ? 0 : 2, 1, 30) : special(7, 1, 55);
  if (m == "div") return approximate || full ? special(full ? 5 : 2, 1, 35) : special(9, 1, 65);
  // Comparisons and selections run beside the integers; signs are folded into the next instruction.
  if (m == "min" || m == "max" || m == "setp" || m == "selp" || m == "set") return integer(1);
  if (m == "abs" || m == "neg" || m == "copysign") return free_of_charge(0.3);
  cost.fp32 = 1;
  return cost;
}

InstructionCost whole(const Opcode& opcode, Element type) {
  const std::string& m = opcode.mnemonic();
  const bool wide = bytes_of(type) == 8;
  if (m == "div" || m == "rem") {
    InstructionCost cost = shared_integer(wide ? 55 : 9, wide ? 300 : 70);
    cost.special = wide ? 2 : 1;
    return cost;
  }
  if (m == "mul" || m == "mad") {
    if (opcode.has("wide")) return shared_integer(1, 5);
    return shared_integer(wide ? (opcode.has("hi") ? 8 : 2.5) : opcode.has("hi") ? 2 : 1, wide ? 14 : 5);
  }
  if (m == "popc" || m == "bfind" || m == "brev" || m == "clz") {
    InstructionCost cost = integer(wide ? 3 : 1, 12);
    cost.special = wide ? 2 : 1;
    return cost;
  }
  // Sums of 64 bits are mostly addresses, and half of them end up in a memory access's own offset or a wide product.
  if (m == "add" || m == "sub") return shared_integer(1, wide ? 6 : 4);
  // Two or three logic operations make one machine instruction.
  return integer(wide ? 1.4 : 0.7, wide ? 8 : 5);
}

}  // namespace

InstructionCost cost_of(const std::string& text) {
  const Opcode opcode = split_opcode(text);
  const std::string& m = opcode.mnemonic();
  const Element type = opcode.type();
  InstructionCost cost;
  if (m == "mov" || m == "cvta" || opcode.has("param")) return free_of_charge(0.1);
  if (m == "wgmma") return warpgroup_product(opcode);
  if (m == "wmma" && opcode.has("mma")) {
    cost.slots = 2, cost.latency = 66;
    return cost;
  }
  if (m == "mma") {
    cost.latency = 33;
    return cost;
  }
  if (m == "wmma" || m == "ldmatrix" || m == "stmatrix") {
    cost.slots = cost.memory = m == "wmma" ? 4 : 1;
    cost.latency = 0;
    return cost;
  }
  if (m == "ld" || m == "st" || m == "atom" || m == "red" || (m == "cp" && !opcode.has("commit_group") && !opcode.has("wait_group") && !opcode.has("wait_all"))) {
    cost.memory = 1;
    cost.latency = 0;  // depends on where it goes
    return cost;
  }
  if (m == "shfl" || m == "redux") {
    cost.memory = 1;
    cost.latency = 24;
    return cost;
  }
  if (m == "vote" || m == "match" || m == "activemask") return integer(1, 12);
  if (m == "bra" || m == "ret" || m == "exit" || m == "bar" || m == "barrier" || m == "call" || m == "membar" || m == "fence") return cost;
  if (m == "cp" || m == "pragma") return free_of_charge();
  if (m == "cvt") {
    const bool numbers = text.find(".f") != std::string::npos || text.find(".bf") != std::string::npos;
    if (!numbers) return free_of_charge(0.3);  // widening or narrowing of integers
    cost = integer(1, 6);
    if (text.find("64") != std::string::npos || (!is_float(type) || text.find(".rn.f32.s") != std::string::npos || text.find(".rn.f32.u") != std::string::npos)) cost.special = 1, cost.latency = 14;
    return cost;
  }
  if (m == "setp" || m == "selp") return integer(type != Element::f64 && bytes_of(type) == 8 ? 2 : 1);
  if (type == Element::pred) return integer(0.5);
  return is_float(type) ? floating(opcode, type) : whole(opcode, type);
}

}  // namespace cudal1::sim
