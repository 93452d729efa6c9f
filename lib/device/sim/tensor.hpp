// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/element.hpp"

#include <cstdint>

namespace cudal1::sim {

// How matrix fragments lie in the registers of a warp, for wmma and mma.sync.

enum class Part : std::uint8_t { a, b, c, d };

// One tensor instruction: its shape and what its fragments hold.
struct TensorFacts {
  unsigned m = 16, n = 16, k = 16;
  Element a = Element::f16, b = Element::f16, c = Element::f32, d = Element::f32;
  bool warp_level = false;                  // wmma: a layout of our own; else the one that the PTX manual draws for mma.sync
  bool saturate = false;
  unsigned a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
  // wmma.load, wmma.store and ldmatrix
  Part part = Part::a;
  bool column_major = false, transposed = false;
  unsigned matrices = 1;
  // wgmma, with `transposed` for A
  bool transposed_b = false, negate_a = false, negate_b = false;

  Element element(Part which) const { return which == Part::a ? a : which == Part::b ? b : which == Part::c ? c : d; }
  unsigned rows(Part which) const { return which == Part::b ? k : m; }
  unsigned columns(Part which) const { return which == Part::a ? k : n; }
};

// Which cell of its matrix element `index` of lane `lane` is. Elements fill a lane's registers in order, from the low bits up.
struct Cell {
  unsigned row = 0, column = 0;
};
Cell fragment_cell(const TensorFacts& facts, Part part, unsigned lane, unsigned index);
unsigned fragment_elements(const TensorFacts& facts, Part part);  // per lane
unsigned register_elements(Element element);                      // per register: 2 for f16, 4 for s8

}  // namespace cudal1::sim
