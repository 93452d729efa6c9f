// SPDX-License-Identifier: Apache-2.0
// What instructions that look at lanes one by one do with shadows: shuffles, atomic and tensor operations, asynchronous copies, and
// the copies that a call makes.
#include "sim/shadow.hpp"
#include "sim/small_float.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cudal1::sim {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

ShadowMode mode_of(const Warp& w) { return w.worker->launch->shadow_mode; }

// From the lane that the value comes from (shuffle in warp_operations.cpp); from another one the bits would differ.
template <int mode>
void shuffle(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const u32 *b = row<const u32>(w, i.b), *c = row<const u32>(w, i.c);
  const Planes from = planes(w, i.a);
  double values[2][32];
  u32 tags[2][32];
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 step = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const u32 highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    s32 j = 0;
    bool inside = false;
    if (mode == 0) j = static_cast<s32>(lane) - static_cast<s32>(step), inside = j >= static_cast<s32>(highest);
    if (mode == 1) j = static_cast<s32>(lane + step), inside = j <= static_cast<s32>(highest);
    if (mode == 2) j = static_cast<s32>(lane ^ step), inside = j <= static_cast<s32>(highest);
    if (mode == 3) j = static_cast<s32>(lowest | (step & ~segment)), inside = j <= static_cast<s32>(highest);
    const u32 source = inside ? static_cast<u32>(j) & 31 : lane;
    for (u32 k = 0; k < 2; ++k) values[k][lane] = from.at(k).values[source], tags[k][lane] = from.at(k).tags[source];
  }
  run_real(w, i, s);
  const Planes into = planes(w, i.d);
  for (u32 k = 0; k < 2; ++k)
    for (u32 rest = w.mask; rest; rest &= rest - 1) {
      const auto lane = static_cast<u32>(std::countr_zero(rest));
      into.at(k).values[lane] = values[k][lane], into.at(k).tags[lane] = tags[k][lane];
    }
}

// Values and shadows of a float or double, one at a time.
struct Number {
  double value = 0, shadow = 0;
  bool known = false;
};

template <class T>
Number number_at(ShadowMode mode, T value, const double* values, const u32* tags, unsigned upper) {
  Number n;
  n.value = static_cast<double>(value);
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<u64>(value);
    n.known = tags[0] == static_cast<u32>(bits) && tags[upper] == static_cast<u32>(bits >> 32) && values[0] == values[upper];
  } else {
    n.known = tags[0] == std::bit_cast<u32>(value);
  }
  n.shadow = n.known ? values[0] : leaf(mode, n.value);
  return n;
}

template <class T>
void set_number(T value, double shadow, double* values, u32* tags, unsigned upper) {
  values[0] = std::isfinite(shadow) && std::isfinite(static_cast<double>(value)) ? shadow : static_cast<double>(value);
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<u64>(value);
    values[upper] = values[0];
    tags[0] = static_cast<u32>(bits), tags[upper] = static_cast<u32>(bits >> 32);
  } else {
    tags[0] = std::bit_cast<u32>(value);
  }
}

// Where a lane's atomic operation finds its value and its cells.
struct Target {
  CellPlace cells;
  const std::byte* host = nullptr;
};
Target target_of(Warp& w, const Shadowed& s, int lane, u64 address, Allocation*& last) {
  Target target;
  target.cells = shadow_cells(w, s.space, lane, address, s.width, last);
  if (!target.cells.values) return target;
  u64 offset = address;
  const bool windowed = s.space == Space::generic || s.space == Space::global;
  const bool shared = s.space == Space::shared || (windowed && address - shared_window < window_bytes);
  const bool local = s.space == Space::local || (windowed && address - local_window < window_bytes);
  if (shared) target.host = w.block->shared + static_cast<u32>(offset);
  else if (local) target.cells = {};   // the hardware has no atomic operations there
  else target.host = last->host + (address - last->base);
  return target;
}

template <class T>
void add_atomically(Warp& w, const Instruction& i, const Shadowed& s) {
  const ShadowMode mode = mode_of(w);
  const u64* base = row<const u64>(w, i.a);
  const T* b = row<const T>(w, i.b);
  const Planes added = planes(w, i.b);
  u64 addresses[32];
  Target targets[32];
  double before[32] = {}, after[32] = {};
  Allocation* last = nullptr;
  const u32 seed = static_cast<u32>(w.worker->launch->shadow_seed) ^ static_cast<u32>(w.block->number) * 0x27d4eb2fu ^ i.statement << 7;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = base[lane] + static_cast<u64>(i.immediate);
    targets[lane] = target_of(w, s, lane, addresses[lane], last);
    if (!targets[lane].cells.values) continue;
    T value{};
    std::memcpy(&value, targets[lane].host, sizeof value);
    before[lane] = number_at(mode, value, targets[lane].cells.values, targets[lane].cells.tags, 2).shadow;
    for (int other = lane - 1; other >= 0; --other)
      if ((w.mask >> other & 1) && targets[other].cells.values && addresses[other] == addresses[lane]) {
        before[lane] = after[other];
        break;
      }
    const double term = number_at(mode, b[lane], added.values + lane, added.tags + lane, 64).shadow;
    after[lane] = before[lane] + term;
    if (mode == ShadowMode::disturbed && std::fabs(after[lane]) != std::fabs(term)) {
      u32 h = (std::bit_cast<u32>(static_cast<float>(after[lane])) ^ seed) * 0x9e3779b1u + static_cast<u32>(lane) * 0x632be5abu;
      h = (h ^ h >> 15) * 0x85ebca6bu;
      h = (h ^ h >> 13) * 0xc2b2ae35u;
      after[lane] *= 1 + 0.71 * (sizeof(T) == 8 ? 0x1p-53 : 0x1p-24) * static_cast<double>(static_cast<s32>(h ^ h >> 16)) * 0x1p-31;
    }
  }
  run_real(w, i, s);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!targets[lane].cells.values) continue;
    T value{};
    std::memcpy(&value, targets[lane].host, sizeof value);
    set_number(value, after[lane], targets[lane].cells.values, targets[lane].cells.tags, 2);
    if (i.d == nowhere) continue;
    const Planes old = planes(w, i.d);
    set_number(row<const T>(w, i.d)[lane], before[lane], old.values + lane, old.tags + lane, 64);
  }
}

void atomic_add(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (s.type == Element::f64) add_atomically<double>(w, i, s);
  else add_atomically<float>(w, i, s);
}

// Operations that leave one of the values: whose bits are in memory afterwards gave it, and its shadow.
void atomic_choose(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const unsigned units = s.width / 2u;
  const u64* base = row<const u64>(w, i.a);
  struct Held {
    double values[4];
    u32 tags[4];
  };
  u64 addresses[32];
  Target targets[32];
  Held before[32];
  Allocation* last = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    addresses[lane] = base[lane] + static_cast<u64>(i.immediate);
    targets[lane] = target_of(w, s, lane, addresses[lane], last);
    if (targets[lane].cells.values)
      for (unsigned u = 0; u < units; ++u) before[lane].values[u] = targets[lane].cells.values[u], before[lane].tags[u] = targets[lane].cells.tags[u];
  }
  // What is exchanged may lie in the register that takes the old value.
  const auto* given = w.rows + (i.c == nowhere ? i.b : i.c);
  const Planes from = planes(w, i.c == nowhere ? i.b : i.c);
  std::byte bits[32 * 8];
  std::memcpy(bits, given, 32 * s.width);
  Held offered[32];
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned u = 0; u < units; ++u) offered[lane].values[u] = from.at(u).values[lane], offered[lane].tags[u] = from.at(u).tags[lane];
  run_real(w, i, s);
  const auto matches = [&](const std::byte* held, const Held& one) {
    for (unsigned u = 0; u < units; u += 2) {
      u32 word = 0;
      std::memcpy(&word, held + 2 * u, 4);
      if (one.tags[u] != word) return false;
    }
    return true;
  };
  const auto find = [&](const std::byte* held, int lane) -> const Held* {
    if (matches(held, before[lane])) return &before[lane];
    for (u32 others = w.mask; others; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (targets[other].cells.values && addresses[other] == addresses[lane] && std::memcmp(bits + static_cast<unsigned>(other) * s.width, held, s.width) == 0 && matches(held, offered[other]))
        return &offered[other];
    }
    return nullptr;
  };
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!targets[lane].cells.values) continue;
    if (const Held* one = find(targets[lane].host, lane))
      for (unsigned u = 0; u < units; ++u) targets[lane].cells.values[u] = one->values[u], targets[lane].cells.tags[u] = one->tags[u];
    if (i.d == nowhere) continue;
    const Planes into = planes(w, i.d);
    if (const Held* one = find(w.rows + i.d + static_cast<unsigned>(lane) * s.width, lane))
      for (unsigned u = 0; u < units; ++u) into.at(u).values[lane] = one->values[u], into.at(u).tags[lane] = one->tags[u];
  }
}

void copy_cells(const CellPlace& into, const CellPlace& from, unsigned bytes) {
  if (!into.values || !from.values) return;
  std::memmove(into.values, from.values, bytes / 2 * sizeof(double));
  std::memmove(into.tags, from.tags, bytes / 2 * sizeof(u32));
}

// What is filled with zeros has other bits than the shadows that are copied beside it.
void copy_start(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  const auto* lists = w.worker->launch->program->lists.data() + i.list;
  const u64 *to = row<const u64>(w, i.d), *from = row<const u64>(w, i.a);
  Allocation* last = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 target = to[lane] + static_cast<u64>(static_cast<std::int64_t>(static_cast<s32>(lists[1])));
    copy_cells(shadow_cells(w, Space::shared, lane, target, i.extra, last), shadow_cells(w, Space::global, lane, from[lane] + static_cast<u64>(i.immediate), i.extra, last), i.extra);
  }
  run_real(w, i, s);
}

void copy_local(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  Allocation* none = nullptr;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    copy_cells(shadow_cells(w, Space::local, lane, i.extra, i.list, none), shadow_cells(w, Space::local, lane, static_cast<u64>(i.immediate), i.list, none), i.list);
  }
}

const TensorFacts& facts_of(const Warp& w, const Instruction& i) { return w.worker->launch->program->tensors[i.extra]; }
const u32* list_of(const Warp& w, const Instruction& i) { return w.worker->launch->program->lists.data() + i.list; }

// One element of a fragment in a register.
struct Place {
  std::byte* bits;
  double* values;
  u32* tags;
};
Place place_of(const Warp& w, const u32* rows, Element element, unsigned lane, unsigned index) {
  const unsigned bytes = bytes_of(element), packed = register_elements(element), within = index % packed;
  const u32 offset = rows[index / packed];
  const Planes p = planes(w, offset).at(bytes == 2 ? within : 0);
  return {w.rows + offset + lane * std::max(4u, bytes) + within * bytes, p.values + lane, p.tags + lane};
}

float half_value(u16 half, Element element) { return element == Element::f16 ? to_float(Half{half}) : to_float(Bfloat{half}); }

double shadow_at(const Warp& w, const Place& place, Element element) {
  const ShadowMode mode = mode_of(w);
  u16 half = 0;
  float single = 0;
  double wide = 0;
  switch (element) {
    case Element::f16:
    case Element::bf16: {
      std::memcpy(&half, place.bits, 2);
      return *place.tags == (half_tag | half) ? *place.values : leaf(mode, static_cast<double>(half_value(half, element)));
    }
    case Element::f64: std::memcpy(&wide, place.bits, 8); return number_at(mode, wide, place.values, place.tags, 64).shadow;
    default: std::memcpy(&single, place.bits, 4); return number_at(mode, single, place.values, place.tags, 64).shadow;
  }
}

void set_shadow_at(const Place& place, Element element, double shadow) {
  u16 half = 0;
  float single = 0;
  double wide = 0;
  switch (element) {
    case Element::f16:
    case Element::bf16: {
      std::memcpy(&half, place.bits, 2);
      const float value = half_value(half, element);
      *place.values = std::isfinite(shadow) && std::isfinite(value) ? shadow : static_cast<double>(value);
      *place.tags = half_tag | half;
      return;
    }
    case Element::f64: std::memcpy(&wide, place.bits, 8); return set_number(wide, shadow, place.values, place.tags, 64);
    default: std::memcpy(&single, place.bits, 4); return set_number(single, shadow, place.values, place.tags, 64);
  }
}

// The list holds the rows of D, A, B and C in this order.
void multiply(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (w.mask != all_lanes) return run_real(w, i, s);
  const TensorFacts& facts = facts_of(w, i);
  const ShadowMode mode = mode_of(w);
  const u32* d = list_of(w, i);
  const u32 *a = d + facts.d_registers, *b = a + facts.a_registers, *c = b + facts.b_registers;
  double left[32 * 32], right[32 * 32], sum[32 * 32];
  const auto gather = [&](Part part, const u32* rows, double* matrix) {
    const unsigned count = fragment_elements(facts, part), columns = facts.columns(part);
    const Element element = facts.element(part);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned index = 0; index < count; ++index) {
        const Cell cell = fragment_cell(facts, part, lane, index);
        matrix[cell.row * columns + cell.column] = shadow_at(w, place_of(w, rows, element, lane, index), element);
      }
  };
  gather(Part::a, a, left);
  gather(Part::b, b, right);
  gather(Part::c, c, sum);
  const double unit = facts.d == Element::f64 ? 0x1p-53 : 0x1p-24;
  u32 h = static_cast<u32>(w.worker->launch->shadow_seed) ^ static_cast<u32>(w.block->number) * 0x27d4eb2fu ^ w.index << 20 ^ i.statement << 7 ^ static_cast<u32>(w.executed) * 0x9e3779b1u;
  for (unsigned row = 0; row < facts.m; ++row)
    for (unsigned k = 0; k < facts.k; ++k) {
      const double x = left[row * facts.k + k];
      for (unsigned column = 0; column < facts.n; ++column) {
        double& cell = sum[row * facts.n + column];
        const double y = right[k * facts.n + column];
        if (mode == ShadowMode::terms) {
          cell += std::max(x, y);
          continue;
        }
        cell = std::fma(x, y, cell);
        if (mode != ShadowMode::disturbed || x == 0 || y == 0) continue;
        h = h * 1664525u + 1013904223u;
        cell *= 1 + 0.71 * unit * static_cast<double>(static_cast<s32>(h ^ h >> 15)) * 0x1p-31;
      }
    }
  run_real(w, i, s);
  const unsigned count = fragment_elements(facts, Part::d);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < count; ++index) {
      const Cell cell = fragment_cell(facts, Part::d, lane, index);
      set_shadow_at(place_of(w, d, facts.d, lane, index), facts.d, sum[cell.row * facts.n + cell.column]);
    }
}

// Moves an element's shadow between a register and the cells of its place in memory.
void move_element(const Place& place, const CellPlace& cells, unsigned bytes, bool store) {
  if (!cells.values || bytes < 2) return;
  for (unsigned u = 0; u < bytes / 2; u += 2) {
    if (store) cells.values[u] = place.values[32 * u], cells.tags[u] = place.tags[32 * u];
    else place.values[32 * u] = cells.values[u], place.tags[32 * u] = cells.tags[u];
  }
}

void fragment(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  if (w.mask != all_lanes) return;
  const TensorFacts& facts = facts_of(w, i);
  const Element element = facts.element(facts.part);
  const unsigned bytes = bytes_of(element), rows = facts.rows(facts.part), columns = facts.columns(facts.part);
  const u64 base = row<const u64>(w, i.a)[0] + static_cast<u64>(i.immediate);
  const u64 stride = i.b == nowhere ? (facts.column_major ? rows : columns) : row<const u32>(w, i.b)[0];
  Allocation* last = nullptr;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < fragment_elements(facts, facts.part); ++index) {
      const Cell cell = fragment_cell(facts, facts.part, lane, index);
      const u64 element_at = facts.column_major ? cell.column * stride + cell.row : cell.row * stride + cell.column;
      move_element(place_of(w, list_of(w, i), element, lane, index), shadow_cells(w, static_cast<Space>(i.d), 0, base + element_at * bytes, bytes, last), bytes, s.part != 0);
    }
}

void small_matrices(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  run_real(w, i, s);
  if (w.mask != all_lanes) return;
  const TensorFacts& facts = facts_of(w, i);
  const u64* addresses = row<const u64>(w, i.a);
  Allocation* last = nullptr;
  for (unsigned matrix = 0; matrix < facts.matrices; ++matrix)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned line = facts.transposed ? 2 * (lane % 4) + half : lane / 4, column = facts.transposed ? lane / 4 : 2 * (lane % 4) + half;
        const u64 address = addresses[matrix * 8 + line] + static_cast<u64>(i.immediate) + 2 * column;
        const Planes p = planes(w, list_of(w, i)[matrix]).at(half);
        move_element({nullptr, p.values + lane, p.tags + lane}, shadow_cells(w, static_cast<Space>(i.d), 0, address, 2, last), 2, s.part != 0);
      }
}

}  // namespace

ShadowLaneHandlers shadow_lane_handlers() {
  return {{&shuffle<0>, &shuffle<1>, &shuffle<2>, &shuffle<3>}, &atomic_add, &atomic_choose, &copy_start, &copy_local, &multiply, &fragment, &small_matrices};
}

}  // namespace cudal1::sim
