// SPDX-License-Identifier: Apache-2.0
// What instructions do with shadows: arithmetic, comparisons and conversions. Included once for AVX2 and once for the
// baseline; hence everything here has internal linkage.
#pragma once

#include "sim/approximate.ipp"
#include "sim/shadow_moves.ipp"

namespace cudal1::sim {
namespace {

using Op = ShadowOperation;

// The operation itself, in double precision.
inline void compute(Op operation, const Lanes& a, const Lanes& b, const Lanes& c, Lanes& r) {
  switch (operation) {
    case Op::add: CUDAL1_LANES r.of[l] = a.of[l] + b.of[l]; return;
    case Op::sub: CUDAL1_LANES r.of[l] = a.of[l] - b.of[l]; return;
    case Op::mul: CUDAL1_LANES r.of[l] = a.of[l] * b.of[l]; return;
    case Op::fma: CUDAL1_LANES r.of[l] = __builtin_fma(a.of[l], b.of[l], c.of[l]); return;
    case Op::div: CUDAL1_LANES r.of[l] = a.of[l] / b.of[l]; return;
    case Op::rcp: CUDAL1_LANES r.of[l] = 1.0 / a.of[l]; return;
    case Op::sqrt: CUDAL1_LANES r.of[l] = __builtin_sqrt(a.of[l]); return;
    case Op::rsqrt: CUDAL1_LANES r.of[l] = 1.0 / __builtin_sqrt(a.of[l]); return;
    case Op::ex2: for (int l = 0; l < 32; ++l) r.of[l] = std::exp2(a.of[l]); return;
    case Op::lg2: for (int l = 0; l < 32; ++l) r.of[l] = std::log2(a.of[l]); return;
    case Op::sin: for (int l = 0; l < 32; ++l) r.of[l] = std::sin(a.of[l]); return;
    case Op::cos: for (int l = 0; l < 32; ++l) r.of[l] = std::cos(a.of[l]); return;
    case Op::tanh: for (int l = 0; l < 32; ++l) r.of[l] = std::tanh(a.of[l]); return;
    case Op::neg: CUDAL1_LANES r.of[l] = -a.of[l]; return;
    case Op::abs: CUDAL1_LANES r.of[l] = std::fabs(a.of[l]); return;
    // A NaN loses against a number; where it does not, the value itself is NaN.
    case Op::min: CUDAL1_LANES r.of[l] = a.of[l] < b.of[l] || b.of[l] != b.of[l] ? a.of[l] : b.of[l]; return;
    case Op::max: CUDAL1_LANES r.of[l] = a.of[l] > b.of[l] || b.of[l] != b.of[l] ? a.of[l] : b.of[l]; return;
    case Op::copysign: CUDAL1_LANES r.of[l] = std::copysign(b.of[l], a.of[l]); return;
    default: CUDAL1_LANES r.of[l] = a.of[l]; return;
  }
}

// How many terms the result is the sum of.
inline void count_terms(Op operation, const Lanes& a, const Lanes& b, const Lanes& c, unsigned operands, Lanes& r) {
  switch (operation) {
    case Op::add:
    case Op::sub: CUDAL1_LANES r.of[l] = a.of[l] + b.of[l]; return;
    case Op::fma: CUDAL1_LANES r.of[l] = std::max(a.of[l], b.of[l]) + c.of[l]; return;
    default:
      CUDAL1_LANES r.of[l] = a.of[l];
      if (operands > 1) CUDAL1_LANES r.of[l] = std::max(r.of[l], b.of[l]);
      if (operands > 2) CUDAL1_LANES r.of[l] = std::max(r.of[l], c.of[l]);
  }
}

inline double unit_of(Element type) {
  switch (type) {
    case Element::f64: return 0x1p-53;
    case Element::f16:
    case Element::f16x2: return 0x1p-11;
    case Element::bf16:
    case Element::bf16x2: return 0x1p-8;
    default: return 0x1p-24;
  }
}

// A number from -1 to 1 that depends on all that is given, so that no run depends on the number of threads.
inline double noise(u32 bits, u32 place, u32 seed) {
  u32 h = (bits ^ seed) * 0x9e3779b1u + place;
  h = (h ^ h >> 15) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  h ^= h >> 16;
  return static_cast<double>(static_cast<s32>(h)) * 0x1p-31;
}

// Moves each result by a random part of its last place, uniformly, unless the operation was exact on the values.
inline void disturb(const Warp& w, const Instruction& i, const Shadowed& s, unsigned plane, const Lanes& unrounded, Lanes& shadow) {
  Lanes value;
  read_values(w, i.d, s.type, plane, value);
  const Launch& launch = *w.worker->launch;
  const auto block = static_cast<u32>(w.block->number);
  const u32 seed = static_cast<u32>(launch.shadow_seed) ^ static_cast<u32>(launch.shadow_seed >> 32);
  const u32 place = (block * 0x27d4eb2fu) ^ (w.index << 22) ^ (i.statement << 7) ^ (plane << 5);
  // Root mean square 0.41 of a unit, as tensor/rounding.hpp has it. Approximations are off by what the PTX manual states, some of
  // them by so much whatever their value.
  const bool wave = s.operation == Op::sin || s.operation == Op::cos;
  const double most = s.operation == Op::tanh ? 0x1p-11 : 0.71 * unit_of(s.type) * (s.approximate ? 4 : 1);
  const double always = !s.approximate ? 0 : wave ? 0x1p-20 : s.operation == Op::lg2 ? 0x1p-22 : 0;
  CUDAL1_LANES {
    const auto bits = std::bit_cast<u64>(value.of[l]);
    const double by = noise(static_cast<u32>(bits >> 29), place + static_cast<u32>(l) * 0x632be5abu, seed);
    const double moved = shadow.of[l] + (most * std::fabs(shadow.of[l]) + always) * by;
    shadow.of[l] = unrounded.of[l] == value.of[l] ? shadow.of[l] : moved;
  }
}

inline bool rounds(Op operation) {
  return operation != Op::neg && operation != Op::abs && operation != Op::min && operation != Op::max && operation != Op::copysign;
}

void shadow_arithmetic(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const ShadowMode mode = mode_of(w);
  const bool packed = s.type == Element::f16x2 || s.type == Element::bf16x2;
  const unsigned parts = packed ? 2 : 1;
  const u32 sources[3] = {i.a, i.b, i.c};
  Lanes result[2], unrounded[2];
  for (unsigned part = 0; part < parts; ++part) {
    Lanes operand[3];
    const auto read = [&](bool shadows) {
      for (unsigned k = 0; k < s.operands; ++k) {
        const Element type = s.wide_addend && k + 1 == s.operands ? s.type : s.from;
        // Two floats that become a pair: the first is the upper one.
        const bool pair = s.operation == Op::convert && s.operands == 2;
        const u32 source = pair ? sources[1 - part] : sources[k];
        const unsigned plane = pair || !packed ? 0 : part;
        if (shadows) read_shadows(w, source, type, plane, mode, operand[k]);
        else read_values(w, source, type, plane, operand[k]);
      }
    };
    read(true);
    if (mode == ShadowMode::terms) {
      count_terms(s.operation, operand[0], operand[1], operand[2], s.operands, result[part]);
      continue;
    }
    const auto apply = [&](Lanes& r) {
      compute(s.operation, operand[0], operand[1], operand[2], r);
      if (s.operands == 3 && (s.operation == Op::min || s.operation == Op::max)) compute(s.operation, r, operand[2], operand[2], r);
      if (s.saturate) CUDAL1_LANES r.of[l] = r.of[l] > 0 ? (r.of[l] < 1 ? r.of[l] : 1.0) : 0.0;
      if (s.rectify) CUDAL1_LANES r.of[l] = r.of[l] > 0 ? r.of[l] : 0.0;
    };
    apply(result[part]);
    if (mode != ShadowMode::disturbed || !rounds(s.operation)) continue;
    read(false);
    apply(unrounded[part]);
  }
  run_real(w, i, s);
  for (unsigned part = 0; part < parts; ++part) {
    if (mode == ShadowMode::disturbed && rounds(s.operation)) disturb(w, i, s, part, unrounded[part], result[part]);
    write_shadows(w, i.d, s.type, part, mode, result[part]);
  }
}

template <Op operation>
inline double apply(double a, double b, double c) {
  if constexpr (operation == Op::add) return a + b;
  if constexpr (operation == Op::sub) return a - b;
  if constexpr (operation == Op::mul) return a * b;
  if constexpr (operation == Op::fma) return __builtin_fma(a, b, c);
  if constexpr (operation == Op::div) return a / b;
  if constexpr (operation == Op::min) return a < b || b != b ? a : b;
  if constexpr (operation == Op::max) return a > b || b != b ? a : b;
  return a;
}

// shadow_arithmetic in one pass, for what kernels mostly do: plain operations of floats, without counting terms.
template <Op operation, bool disturbed>
void shadow_floats(Warp& w, const Instruction& i) {
  const Launch& launch = *w.worker->launch;
  const ShadowProgram& shadows = *launch.program->shadow;
  const Shadowed& s = shadows.of[static_cast<std::size_t>(&i - launch.program->instructions.data())];
  double* const values = reinterpret_cast<double*>(w.rows + shadows.values);
  u32* const tags = reinterpret_cast<u32*>(w.rows + shadows.tags);
  const u32 c_row = operation == Op::fma ? i.c : i.b;
  const u32 *a = row<const u32>(w, i.a), *b = row<const u32>(w, i.b), *c = row<const u32>(w, c_row);
  const double *a_values = values + i.a / 2, *b_values = values + i.b / 2, *c_values = values + c_row / 2;
  const u32 *a_tags = tags + i.a / 2, *b_tags = tags + i.b / 2, *c_tags = tags + c_row / 2;
  alignas(64) double result[32], unrounded[32];
  CUDAL1_LANES {
    const auto x = static_cast<double>(std::bit_cast<float>(a[l])), y = static_cast<double>(std::bit_cast<float>(b[l])), z = static_cast<double>(std::bit_cast<float>(c[l]));
    result[l] = apply<operation>(a_tags[l] == a[l] ? a_values[l] : x, b_tags[l] == b[l] ? b_values[l] : y, c_tags[l] == c[l] ? c_values[l] : z);
    if constexpr (disturbed) unrounded[l] = apply<operation>(x, y, z);
  }
  run_real(w, i, s);
  const u32* d = row<const u32>(w, i.d);
  if constexpr (disturbed) {
    if (rounds(operation)) {
      // As disturb() does it.
      const u32 seed = static_cast<u32>(launch.shadow_seed) ^ static_cast<u32>(launch.shadow_seed >> 32);
      const u32 place = (static_cast<u32>(w.block->number) * 0x27d4eb2fu) ^ (w.index << 22) ^ (i.statement << 7);
      const double most = 0.71 * 0x1p-24 * (s.approximate ? 4 : 1);
      CUDAL1_LANES {
        const auto value = static_cast<double>(std::bit_cast<float>(d[l]));
        const double by = noise(d[l], place + static_cast<u32>(l) * 0x632be5abu, seed);
        const double moved = result[l] + most * std::fabs(result[l]) * by;
        result[l] = unrounded[l] == value ? result[l] : moved;
      }
    }
  }
  double* const d_values = values + i.d / 2;
  u32* const d_tags = tags + i.d / 2;
  const u32* lanes = w.lanes.data();
  const auto kept = [&](int l) {
    const auto value = static_cast<double>(std::bit_cast<float>(d[l]));
    return std::fabs(result[l]) < HUGE_VAL && std::fabs(value) < HUGE_VAL ? result[l] : value;
  };
  if (w.mask == all_lanes) {
    CUDAL1_LANES d_values[l] = kept(l), d_tags[l] = d[l];
  } else {
    CUDAL1_LANES {
      d_values[l] = lanes[l] ? kept(l) : d_values[l];
      d_tags[l] = lanes[l] ? d[l] : d_tags[l];
    }
  }
}

template <Op operation>
constexpr ShadowHandlers::Floats floats_of() { return {operation, &shadow_floats<operation, false>, &shadow_floats<operation, true>}; }

inline bool holds(unsigned comparison, double a, double b) {
  switch (comparison) {
    case 0: return a == b;
    case 1: return a < b || a > b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    case 5: return a >= b;
    case 6: return !(a < b || a > b);
    case 7: return a != b;
    case 8: return !(a >= b);
    case 9: return !(a > b);
    case 10: return !(a <= b);
    case 11: return !(a < b);
    case 12: return a == a && b == b;
    default: return a != a || b != b;
  }
}

// A comparison follows the values; where the shadows would have it otherwise is counted.
void shadow_compare(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (mode_of(w) != ShadowMode::exact) return run_real(w, i, s);
  Lanes a, b;
  read_shadows(w, i.a, s.from, 0, ShadowMode::exact, a);
  read_shadows(w, i.b, s.from, 0, ShadowMode::exact, b);
  run_real(w, i, s);
  u32 otherwise = 0;
  for (int l = 0; l < 32; ++l) otherwise |= static_cast<u32>(holds(s.comparison, a.of[l], b.of[l])) << l;
  otherwise = (otherwise ^ *row<const u32>(w, i.d)) & w.mask;
  w.worker->turned += static_cast<u64>(std::popcount(otherwise));
}

// An integer is what the value gives.
void shadow_to_integer(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (mode_of(w) != ShadowMode::exact) return run_real(w, i, s);
  Lanes shadow, value;
  read_shadows(w, i.a, s.from, 0, ShadowMode::exact, shadow);
  read_values(w, i.a, s.from, 0, value);
  run_real(w, i, s);
  u64 turned = 0;
  for (int l = 0; l < 32; ++l) {
    // `part` says which way: to nearest, toward zero, down, up.
    const auto whole = [&](double v) { return s.part == 0 ? std::nearbyint(v) : s.part == 1 ? std::trunc(v) : s.part == 2 ? std::floor(v) : std::ceil(v); };
    const bool numbers = shadow.of[l] == shadow.of[l] && value.of[l] == value.of[l];
    turned += static_cast<u64>((w.mask >> l & 1) && numbers && whole(shadow.of[l]) != whole(value.of[l]));
  }
  w.worker->turned += turned;
}

// An integer is exact, whatever its conversion rounds.
void shadow_from_integer(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const ShadowMode mode = mode_of(w);
  Lanes exact;
  for (std::size_t l = 0; l < 32; ++l) {
    const auto* at = w.rows + i.a + l * s.width;
    u64 bits = 0;
    std::memcpy(&bits, at, s.width);
    const unsigned shift = 64 - 8 * s.width;
    exact.of[l] = leaf(mode, s.part ? static_cast<double>(static_cast<s64>(bits << shift) >> shift) : static_cast<double>(bits));
  }
  run_real(w, i, s);
  write_shadows(w, i.d, s.type, 0, mode, exact);
}

ShadowHandlers shadow_handlers() {
  return {&shadow_arithmetic, &shadow_compare, &shadow_to_integer, &shadow_from_integer, &shadow_move, &shadow_select,
          &shadow_pack, &shadow_part, &shadow_sign, &shadow_bits_up, &shadow_load, &shadow_store,
          {floats_of<Op::add>(), floats_of<Op::sub>(), floats_of<Op::mul>(), floats_of<Op::fma>(), floats_of<Op::div>(), floats_of<Op::min>(), floats_of<Op::max>()}};
}

}  // namespace
}  // namespace cudal1::sim
