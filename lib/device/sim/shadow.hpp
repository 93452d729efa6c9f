// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"
#include "sim/sim.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

// Every floating value of a kernel with a double beside it, which no operation rounds. Each instruction runs as always and decides
// where control goes and what addresses are; beside it the same operation is done on the doubles.
//
// A value's shadow knows the bits that it belongs to. Whatever else writes a register or a word of memory leaves other bits
// there, and then the shadow counts for nothing: the value itself is taken. So no operation on integers needs to know of shadows,
// and moves copy them without a look.
namespace cudal1::sim {

// Shadows lie in planes, one for each two bytes of a value: a float's in its first, those of two packed 16-bit floats in both,
// a double's in its first and third, with the words that it consists of. A plane has 32 lanes.
//
// The bits that a shadow belongs to: of a float all of them, of a 16-bit float these, which are no float's that has a shadow.
inline constexpr std::uint32_t half_tag = 0xffff0000u;

// Shadows of memory: one for each two bytes, where the value begins.
struct ShadowCells {
  explicit ShadowCells(std::size_t bytes)
      : values(static_cast<double*>(std::calloc(bytes / 2 + 8, sizeof(double))), &std::free),
        tags(static_cast<std::uint32_t*>(std::calloc(bytes / 2 + 8, sizeof(std::uint32_t))), &std::free) {}
  std::unique_ptr<double, void (*)(void*)> values;
  std::unique_ptr<std::uint32_t, void (*)(void*)> tags;
};

enum class ShadowOperation : std::uint8_t {
  none, add, sub, mul, fma, div, rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh, neg, abs, min, max, copysign, convert
};

// An instruction of a program with shadows, beside the one that runs.
struct Shadowed {
  std::array<Handler, 2> run{};              // what it was
  ShadowOperation operation = ShadowOperation::none;
  Element type = Element::f32, from = Element::f32;   // of the result and the operands
  bool wide_addend = false;                  // the last operand has the result's type, as in fma.f32.f16
  bool saturate = false, rectify = false, approximate = false;
  std::uint8_t comparison = 0;               // its place in shadow_comparisons
  std::uint8_t operands = 0;
  std::uint8_t width = 0, count = 0, part = 0;   // of moves and memory accesses
  Space space = Space::generic;
};

struct ShadowProgram {
  std::vector<Shadowed> of;                  // by instruction
  std::uint32_t values = 0, tags = 0;        // where planes begin in the slab
  bool halves = false;                       // there are 16-bit floats
};

// The comparisons of setp, in the order of Shadowed::comparison.
inline constexpr const char* shadow_comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// The program with a shadow beside each operation that has one. `halves`: it may move 16-bit floats that it does not compute with.
Program shadowed(const Program& plain, bool halves, ShadowMode mode);

// Shadows of the constants and parameters of a warp, when its registers are made ready.
void prepare_shadows(Warp& warp);

// Handlers of instructions with shadows, compiled as sim/families.hpp has it.
struct ShadowHandlers {
  Handler arithmetic, compare, convert_to_integer, convert_from_integer, move, select, pack, part, sign, bits_up, load, store;
  // Quicker ones of arithmetic on floats, without and with random rounding.
  struct Floats {
    ShadowOperation operation;
    Handler exact, disturbed;
  };
  std::array<Floats, 7> floats;
};
ShadowHandlers shadow_handlers_avx2();
ShadowHandlers shadow_handlers_baseline();
// Those that look at lanes one by one, in shadow_operations.cpp and shadow_tensor.cpp.
struct ShadowLaneHandlers {
  Handler shuffle[4];   // up, down, bfly, idx
  Handler atomic_add, atomic_choose, copy_start, copy_local, multiply, fragment, small_matrices;
  Handler warpgroup_multiply;
};
ShadowLaneHandlers shadow_lane_handlers();
ShadowLaneHandlers shadow_tensor_handlers();   // those of tensor operations alone, in shadow_tensor.cpp

// The shadows of some planes of a register.
struct Planes {
  double* values;
  std::uint32_t* tags;
  Planes at(unsigned plane) const { return {values + 32 * plane, tags + 32 * plane}; }
};
inline Planes planes(const Warp& w, std::uint32_t row_offset) {
  const ShadowProgram& s = *w.worker->launch->program->shadow;
  return {reinterpret_cast<double*>(w.rows + s.values) + row_offset / 2, reinterpret_cast<std::uint32_t*>(w.rows + s.tags) + row_offset / 2};
}
inline const Shadowed& shadowed_of(const Warp& w, const Instruction& i) {
  const Program& program = *w.worker->launch->program;
  return program.shadow->of[static_cast<std::size_t>(&i - program.instructions.data())];
}
inline void run_real(Warp& w, const Instruction& i, const Shadowed& s) { s.run[w.mask != all_lanes](w, i); }

// The cells of `bytes` at an address, from where it begins; null where it has none.
struct CellPlace {
  double* values = nullptr;
  std::uint32_t* tags = nullptr;
};
CellPlace shared_cells(Block& block, std::uint64_t offset, unsigned bytes);
CellPlace shadow_cells(Warp& warp, Space space, int lane, std::uint64_t address, unsigned bytes, Allocation*& last);

// What a value without a shadow counts as: itself, or one term of a sum.
inline double leaf(ShadowMode mode, double value) { return mode == ShadowMode::terms ? (value == 0 ? 0.0 : 1.0) : value; }

}  // namespace cudal1::sim
