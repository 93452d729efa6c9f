// SPDX-License-Identifier: Apache-2.0
// What instructions do with shadows: arithmetic, comparisons, moves, loads and stores. Included once for AVX2 and once for the
// baseline; hence everything here has internal linkage.
#pragma once

#include "sim/approximate.ipp"
#include "sim/shadow.hpp"
#include "sim/small_float.hpp"

namespace cudal1::sim {
namespace {

inline ShadowMode mode_of(const Warp& w) { return w.worker->launch->shadow_mode; }

struct Lanes {
  alignas(64) double of[32];
};

// The values of one float, double or half of a register's lanes, as doubles. `plane` is of packed halves.
inline void read_values(const Warp& w, u32 offset, Element type, unsigned plane, Lanes& out) {
  switch (type) {
    case Element::f32: {
      const float* f = row<const float>(w, offset);
      CUDAL1_LANES out.of[l] = static_cast<double>(f[l]);
      return;
    }
    case Element::f64: {
      const double* f = row<const double>(w, offset);
      CUDAL1_LANES out.of[l] = f[l];
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* h = row<const u16>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = type == Element::f16 ? static_cast<double>(to_float(Half{h[l]})) : static_cast<double>(to_float(Bfloat{h[l]}));
      return;
    }
    default: {  // f16x2, bf16x2
      const u32* p = row<const u32>(w, offset);
      for (int l = 0; l < 32; ++l) {
        const auto bits = static_cast<u16>(p[l] >> (16 * plane));
        out.of[l] = type == Element::f16x2 ? static_cast<double>(to_float(Half{bits})) : static_cast<double>(to_float(Bfloat{bits}));
      }
      return;
    }
  }
}

// The same of their shadows; where there is none, the value.
inline void read_shadows(const Warp& w, u32 offset, Element type, unsigned plane, ShadowMode mode, Lanes& out) {
  read_values(w, offset, type, plane, out);
  if (mode == ShadowMode::terms) CUDAL1_LANES out.of[l] = out.of[l] == 0 ? 0.0 : 1.0;
  const Planes p = planes(w, offset).at(plane);
  switch (type) {
    case Element::f32: {
      const u32* bits = row<const u32>(w, offset);
      CUDAL1_LANES out.of[l] = p.tags[l] == bits[l] ? p.values[l] : out.of[l];
      return;
    }
    case Element::f64: {
      const u64* bits = row<const u64>(w, offset);
      const Planes upper = p.at(2);
      CUDAL1_LANES {
        const u64 tag = p.tags[l] | static_cast<u64>(upper.tags[l]) << 32;
        out.of[l] = tag == bits[l] && p.values[l] == upper.values[l] ? p.values[l] : out.of[l];
      }
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* bits = row<const u16>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = p.tags[l] == (half_tag | bits[l]) ? p.values[l] : out.of[l];
      return;
    }
    default: {
      const u32* bits = row<const u32>(w, offset);
      for (int l = 0; l < 32; ++l) out.of[l] = p.tags[l] == (half_tag | (bits[l] >> (16 * plane) & 0xffffu)) ? p.values[l] : out.of[l];
      return;
    }
  }
}

// Gives the values that a register holds by now their shadows. Where either is no number, the shadow is the value.
inline void write_shadows(const Warp& w, u32 offset, Element type, unsigned plane, ShadowMode mode, Lanes& shadow) {
  Lanes value;
  read_values(w, offset, type, plane, value);
  const double most = mode == ShadowMode::terms ? 1e18 : HUGE_VAL;
  CUDAL1_LANES {
    const bool numbers = std::fabs(shadow.of[l]) < HUGE_VAL && std::fabs(value.of[l]) < HUGE_VAL;
    const double kept = mode == ShadowMode::terms ? 1.0 : value.of[l];
    shadow.of[l] = numbers ? (shadow.of[l] < most ? shadow.of[l] : most) : kept;
  }
  const u32* lanes = w.lanes.data();
  const Planes p = planes(w, offset).at(plane);
  const auto put = [&](const Planes& into, auto tag) {
    CUDAL1_LANES {
      into.values[l] = lanes[l] ? shadow.of[l] : into.values[l];
      into.tags[l] = lanes[l] ? tag(l) : into.tags[l];
    }
  };
  switch (type) {
    case Element::f32: {
      const u32* bits = row<const u32>(w, offset);
      put(p, [=](int l) { return bits[l]; });
      return;
    }
    case Element::f64: {
      const u64* bits = row<const u64>(w, offset);
      put(p, [=](int l) { return static_cast<u32>(bits[l]); });
      put(p.at(2), [=](int l) { return static_cast<u32>(bits[l] >> 32); });
      return;
    }
    case Element::f16:
    case Element::bf16: {
      const u16* bits = row<const u16>(w, offset);
      put(p, [=](int l) { return half_tag | bits[l]; });
      return;
    }
    default: {
      const u32* bits = row<const u32>(w, offset);
      put(p, [=](int l) { return half_tag | (bits[l] >> (16 * plane) & 0xffffu); });
      return;
    }
  }
}

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

inline void copy_plane(const Warp& w, const Planes& into, const Planes& from) {
  const u32* lanes = w.lanes.data();
  if (w.mask == all_lanes) {
    std::memcpy(into.values, from.values, 32 * sizeof(double));
    std::memcpy(into.tags, from.tags, 32 * sizeof(u32));
    return;
  }
  CUDAL1_LANES {
    into.values[l] = lanes[l] ? from.values[l] : into.values[l];
    into.tags[l] = lanes[l] ? from.tags[l] : into.tags[l];
  }
}

// Planes that a value of so many bytes has.
inline unsigned planes_of(unsigned bytes) { return bytes / 2; }

void shadow_move(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned step = w.worker->launch->program->shadow->halves || s.width < 4 ? 1 : 2;
  for (unsigned k = 0; k < planes_of(s.width); k += step) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(k));
}

// `part`: where the condition is; 0 a predicate, 1 an integer's sign, 2 a float's.
void shadow_select(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const unsigned step = w.worker->launch->program->shadow->halves || s.width < 4 ? 1 : 2;
  u32 first = s.part == 0 ? *row<const u32>(w, i.c) : 0;
  if (s.part == 1)
    for (int l = 0; l < 32; ++l) first |= static_cast<u32>(row<const s32>(w, i.c)[l] >= 0) << l;
  if (s.part == 2)
    for (int l = 0; l < 32; ++l) first |= static_cast<u32>(row<const float>(w, i.c)[l] >= 0) << l;
  run_real(w, i, s);
  alignas(64) u32 choose[32];
  CUDAL1_LANES choose[l] = 0u - (first >> l & 1);
  const u32* lanes = w.lanes.data();
  for (unsigned k = 0; k < planes_of(s.width); k += step) {
    const Planes d = planes(w, i.d).at(k), a = planes(w, i.a).at(k), b = planes(w, i.b).at(k);
    CUDAL1_LANES {
      const double value = choose[l] ? a.values[l] : b.values[l];
      const u32 tag = choose[l] ? a.tags[l] : b.tags[l];
      d.values[l] = lanes[l] ? value : d.values[l];
      d.tags[l] = lanes[l] ? tag : d.tags[l];
    }
  }
}

// A bf16 with 16 zeros behind it is the same number as a float.
inline void widen_bfloat(const Warp& w, u32 offset) {
  const Planes lower = planes(w, offset), upper = lower.at(1);
  const u32* bits = row<const u32>(w, offset);
  for (int l = 0; l < 32; ++l) {
    if (!(w.mask >> l & 1) || (bits[l] & 0xffffu) != 0 || upper.tags[l] != (half_tag | bits[l] >> 16)) continue;
    lower.values[l] = upper.values[l];
    lower.tags[l] = bits[l];
  }
}

void shadow_pack(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned half = planes_of(s.width) / 2;
  for (unsigned k = 0; k < half; ++k) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(k));
  for (unsigned k = 0; k < half; ++k) copy_plane(w, planes(w, i.d).at(half + k), planes(w, i.b).at(k));
  if (s.width == 4) widen_bfloat(w, i.d);
}

// `width` is of the part, `part` its place.
void shadow_part(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  const unsigned count = planes_of(s.width);
  for (unsigned k = 0; k < count; ++k) copy_plane(w, planes(w, i.d).at(k), planes(w, i.a).at(s.part * count + k));
}

// A sign changed or cleared by logic on bits; `part`: 0 changed, 1 cleared. `width`: 4 of a float, 2 of a half.
void shadow_sign(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const ShadowMode mode = mode_of(w);
  Lanes shadow;
  const Planes a = planes(w, i.a);
  alignas(64) u32 known[32];
  for (int l = 0; l < 32; ++l) {
    const u32 tag = s.width == 4 ? row<const u32>(w, i.a)[l] : half_tag | row<const u16>(w, i.a)[l];
    known[l] = a.tags[l] == tag;
    shadow.of[l] = mode == ShadowMode::terms ? a.values[l] : s.part == 0 ? -a.values[l] : std::fabs(a.values[l]);
  }
  run_real(w, i, s);
  const Planes d = planes(w, i.d);
  for (int l = 0; l < 32; ++l) {
    if (!w.lanes[static_cast<std::size_t>(l)] || !known[l]) continue;
    d.values[l] = shadow.of[l];
    d.tags[l] = s.width == 4 ? row<const u32>(w, i.d)[l] : half_tag | row<const u16>(w, i.d)[l];
  }
}

// A word shifted up by 16 bits: its lower half becomes the upper one, as a bf16 that is made a float.
void shadow_bits_up(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  copy_plane(w, planes(w, i.d).at(1), planes(w, i.a));
  widen_bfloat(w, i.d);
}

inline u32 data_row_of(const Warp& w, const Instruction& i, unsigned count, unsigned k) {
  return count == 1 ? i.d : w.worker->launch->program->lists[i.list + k];
}

template <bool store>
inline void move_cells(Warp& w, const Instruction& i, const Shadowed& s, const u64* addresses) {
  const unsigned units = s.width / 2u, step = w.worker->launch->program->shadow->halves || units < 2 ? 1 : 2;
  Allocation* last = w.worker->sites[i.site].last;
  const unsigned bytes = s.width * s.count;
  // Nearly always all lanes are in one place.
  const s64 first = static_cast<s64>(addresses[std::countr_zero(w.mask)]);
  const u32* lanes = w.lanes.data();
  alignas(64) s64 used[32];
  s64 differ = 0;
  CUDAL1_LANES {
    used[l] = lanes[l] ? static_cast<s64>(addresses[l]) : first;
    differ |= used[l] ^ first;
  }
  s64 lowest = first, highest = first;
  if (differ != 0) {
    for (int l = 0; l < 32; ++l) lowest = used[l] < lowest ? used[l] : lowest;
    for (int l = 0; l < 32; ++l) highest = used[l] > highest ? used[l] : highest;
  }
  const u64 low = static_cast<u64>(lowest), high = static_cast<u64>(highest);
  CellPlace all;
  if (s.space != Space::local) {
    Allocation* one = last;
    all = shadow_cells(w, s.space, 0, low, static_cast<unsigned>(std::min<u64>(high - low + bytes, 0x7fffffff)), one);
    last = one ? one : last;
  }
  for (unsigned k = 0; k < s.count; ++k) {
    const Planes p = planes(w, data_row_of(w, i, s.count, k));
    if (all.values) {
      for (unsigned u = 0; u < units; u += step) {
        const Planes plane = p.at(u);
        const u64 place = k * units + u;
        const auto move = [&](int l) {
          const u64 cell = (addresses[l] - low) / 2 + place;
          if constexpr (store) all.values[cell] = plane.values[l], all.tags[cell] = plane.tags[l];
          else plane.values[l] = all.values[cell], plane.tags[l] = all.tags[cell];
        };
        if (!store && w.mask == all_lanes && low == high) {
          // One word for all of them.
          const double value = all.values[place];
          const u32 tag = all.tags[place];
          CUDAL1_LANES plane.values[l] = value, plane.tags[l] = tag;
        } else if (w.mask == all_lanes) {
          for (int l = 0; l < 32; ++l) move(l);
        } else {
          for (u32 rest = w.mask; rest; rest &= rest - 1) move(std::countr_zero(rest));
        }
      }
      continue;
    }
    for (u32 rest = w.mask; rest; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const CellPlace place = shadow_cells(w, s.space, l, addresses[l] + k * s.width, s.width, last);
      if (!place.values) continue;
      for (unsigned u = 0; u < units; u += step) {
        const Planes plane = p.at(u);
        if constexpr (store) place.values[u] = plane.values[l], place.tags[u] = plane.tags[l];
        else plane.values[l] = place.values[u], plane.tags[l] = place.tags[u];
      }
    }
  }
}

void shadow_load(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  alignas(64) u64 addresses[32];
  const u64* a = row<const u64>(w, i.a);
  CUDAL1_LANES addresses[l] = a[l] + static_cast<u64>(i.immediate);
  run_real(w, i, s);
  if (w.mask) move_cells<false>(w, i, s, addresses);
}

void shadow_store(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  alignas(64) u64 addresses[32];
  const u64* a = row<const u64>(w, i.a);
  CUDAL1_LANES addresses[l] = a[l] + static_cast<u64>(i.immediate);
  run_real(w, i, s);
  if (w.mask) move_cells<true>(w, i, s, addresses);
}

ShadowHandlers shadow_handlers() {
  return {&shadow_arithmetic, &shadow_compare, &shadow_to_integer, &shadow_from_integer, &shadow_move, &shadow_select,
          &shadow_pack, &shadow_part, &shadow_sign, &shadow_bits_up, &shadow_load, &shadow_store,
          {floats_of<Op::add>(), floats_of<Op::sub>(), floats_of<Op::mul>(), floats_of<Op::fma>(), floats_of<Op::div>(), floats_of<Op::min>(), floats_of<Op::max>()}};
}

}  // namespace
}  // namespace cudal1::sim
