// SPDX-License-Identifier: Apache-2.0
// What tensor operations do with shadows: mma, wgmma, and the loads and stores of their fragments.
#include "sim/matrix_descriptor.ipp"
#include "sim/shadow.hpp"
#include "sim/shadow_number.hpp"
#include "sim/small_float.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace cudal1::sim {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

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

// Adds the products of `rows` rows of the left matrix by the right one to the sums, as the run's mode wants it.
void add_products(const Warp& w, const Instruction& i, const TensorFacts& facts, const double* left, const double* right, double* sum, unsigned rows) {
  const ShadowMode mode = mode_of(w);
  const double unit = facts.d == Element::f64 ? 0x1p-53 : 0x1p-24;
  u32 h = static_cast<u32>(w.worker->launch->shadow_seed) ^ static_cast<u32>(w.block->number) * 0x27d4eb2fu ^ w.index << 20 ^ i.statement << 7 ^ static_cast<u32>(w.executed) * 0x9e3779b1u;
  for (unsigned row = 0; row < rows; ++row)
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
}

// The list holds the rows of D, A, B and C in this order.
void multiply(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (w.mask != all_lanes) return run_real(w, i, s);
  const TensorFacts& facts = facts_of(w, i);
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
  add_products(w, i, facts, left, right, sum, facts.m);
  run_real(w, i, s);
  const unsigned count = fragment_elements(facts, Part::d);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < count; ++index) {
      const Cell cell = fragment_cell(facts, Part::d, lane, index);
      set_shadow_at(place_of(w, d, facts.d, lane, index), facts.d, sum[cell.row * facts.n + cell.column]);
    }
}

// One element of a matrix in shared memory, or of a register, whose bits are given beside where its shadow would be.
double matrix_element(const Warp& w, u32 bits, Element element, const double* values, const u32* tags, bool negate) {
  const ShadowMode mode = mode_of(w);
  const double sign = negate && mode != ShadowMode::terms ? -1 : 1;
  if (element == Element::e4m3 || element == Element::e5m2)
    return sign * leaf(mode, static_cast<double>(element == Element::e4m3 ? e4m3_to_float(static_cast<std::uint8_t>(bits)) : e5m2_to_float(static_cast<std::uint8_t>(bits))));
  if (element == Element::f16 || element == Element::bf16)
    return sign * (values && *tags == (half_tag | bits) ? *values : leaf(mode, static_cast<double>(half_value(static_cast<u16>(bits), element))));
  return sign * (values && *tags == bits ? *values : leaf(mode, static_cast<double>(std::bit_cast<float>(bits))));
}

// Calls apply(row of the matrix, k, element) for `rows` rows of a matrix in shared memory, from `first` on.
template <class Apply>
void each_element(Warp& w, u64 descriptor_bits, Element element, bool transposed, bool negate, u32 first, u32 rows, u32 depth, Apply apply) {
  const warpgroup::Descriptor descriptor(descriptor_bits);
  const u32 size = bytes_of(element), each = 16 / size;
  for (u32 row = 0; row < rows; ++row)
    for (u32 k = 0; k < depth; ++k) {
      const u32 outer = first + row, offset = transposed ? descriptor.place(outer / each, k, true) + outer % each * size : descriptor.place(outer, k / each, false) + k % each * size;
      if (offset + size > w.block->shared_bytes) continue;
      u32 bits = 0;
      std::memcpy(&bits, w.block->shared + offset, size);
      const CellPlace cell = size > 1 ? shared_cells(*w.block, offset, size) : CellPlace{};
      apply(row, k, matrix_element(w, bits, element, cell.values, cell.tags, negate));
    }
}

// A warp's sixteen rows of wgmma.mma_async; operands as in warpgroup.ipp.
void warpgroup_multiply(Warp& w, const Instruction& i) {
  const Shadowed& s = shadowed_of(w, i);
  if (w.mask != all_lanes) return run_real(w, i, s);
  const TensorFacts& facts = facts_of(w, i);
  const u32* d = list_of(w, i);
  const bool keep = i.c == nowhere || (*row<const u32>(w, i.c) & 1);
  std::vector<double> left(16 * facts.k), right(facts.k * facts.n), sum(16 * facts.n);
  if (facts.a_registers > 0) {
    const u32 packed = 4 / bytes_of(facts.a), width = 32 / packed;
    for (u32 r = 0; r < 4; ++r)
      for (u32 lane = 0; lane < 32; ++lane)
        for (u32 h = 0; h < packed; ++h) {
          const u32 word = row<const u32>(w, d[facts.d_registers + r])[lane], bits = packed == 1 ? word : word >> (width * h) & ((1u << width) - 1);
          const Planes p = planes(w, d[facts.d_registers + r]).at(packed == 2 ? h : 0);
          left[(lane / 4 + 8 * (r & 1)) * facts.k + lane % 4 * packed + h + 4 * packed * (r >> 1)] = matrix_element(w, bits, facts.a, p.values + lane, p.tags + lane, facts.negate_a);
        }
  } else {
    each_element(w, row<const u64>(w, i.a)[0], facts.a, facts.transposed, facts.negate_a, 16 * (w.index % 4), 16, facts.k, [&](u32 m, u32 k, double v) { left[m * facts.k + k] = v; });
  }
  each_element(w, row<const u64>(w, i.b)[0], facts.b, facts.transposed_b, facts.negate_b, 0, facts.n, facts.k, [&](u32 n, u32 k, double v) { right[k * facts.n + n] = v; });
  const auto each_sum = [&](auto apply) {
    for (u32 index = 0; index < facts.n / 2; ++index)
      for (u32 lane = 0; lane < 32; ++lane) {
        const u32 m = lane / 4 + 8 * (index / 2 % 2), n = 8 * (index / 4) + lane % 4 * 2 + index % 2;
        apply(place_of(w, d, facts.d, lane, index), sum[m * facts.n + n]);
      }
  };
  if (keep) each_sum([&](const Place& place, double& cell) { cell = shadow_at(w, place, facts.d); });
  add_products(w, i, facts, left.data(), right.data(), sum.data(), 16);
  run_real(w, i, s);
  each_sum([&](const Place& place, double cell) { set_shadow_at(place, facts.d, cell); });
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

ShadowLaneHandlers shadow_tensor_handlers() {
  ShadowLaneHandlers handlers{};
  handlers.multiply = &multiply, handlers.fragment = &fragment, handlers.small_matrices = &small_matrices, handlers.warpgroup_multiply = &warpgroup_multiply;
  return handlers;
}

}  // namespace cudal1::sim
