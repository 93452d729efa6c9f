// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/operation.hpp"

#include <span>

// What source means and instructions do not say: `logf(x)` is the logarithm, and `0.7f` seven tenths. A kernel that is compiled for
// its shadows (judge/meant_source.hpp) marks such values:
//   meant.log.f32 d, y, x;       d is y, which a library computed of x; its shadow is the logarithm of x's
//   meant.literal.f32 d, y, v;   d is y; its shadow is the double v, which y is nearest to
namespace cudal1::sim {

struct MeantFunction {
  const char* name;                        // of the instruction and of the function for doubles
  int operands;                            // 1 or 2
  double (*of)(double, double);
};
std::span<const MeantFunction> meant_functions();

// The instructions, which copy their second operand.
void add_meant_operations(Operations& table);

// What they do with shadows. Shadowed::part is the function's place, and meant_literal for a literal.
inline constexpr std::uint8_t meant_literal = 255;
void shadow_meant(Warp& warp, const Instruction& instruction);

}  // namespace cudal1::sim
