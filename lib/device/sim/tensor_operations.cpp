// SPDX-License-Identifier: Apache-2.0
// wmma, mma.sync, ldmatrix and stmatrix. Sums run along k in order, in float for the small floats, which is one of the orders
// that the hardware leaves open.
#include "sim/access.hpp"
#include "sim/families.hpp"
#include "sim/small_float.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cudal1::sim {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

const TensorFacts& facts_of(const Warp& w, const Instruction& i) { return w.worker->launch->program->tensors[i.extra]; }
const u32* list_of(const Warp& w, const Instruction& i) { return w.worker->launch->program->lists.data() + i.list; }

bool whole_warp(Warp& w, const Instruction& i) {
  if (w.mask == all_lanes) return true;
  if (w.mask)
    report(w, i, outcome::Finding::Kind::bad_warp_mask, std::countr_zero(w.mask), 0, "a matrix operation is run by a part of its warp");
  return w.mask != 0;
}

// The bits of element `index` of a lane's fragment whose registers' rows are `rows`.
u64 element_bits(const Warp& w, const u32* rows, Element element, unsigned lane, unsigned index) {
  const unsigned bytes = bytes_of(element), packed = register_elements(element);
  const std::byte* at = w.rows + rows[index / packed] + lane * std::max(4u, bytes) + (index % packed) * bytes;
  u64 bits = 0;
  std::memcpy(&bits, at, bytes);
  return bits;
}
void set_element_bits(Warp& w, const u32* rows, Element element, unsigned lane, unsigned index, u64 bits) {
  const unsigned bytes = bytes_of(element), packed = register_elements(element);
  std::memcpy(w.rows + rows[index / packed] + lane * std::max(4u, bytes) + (index % packed) * bytes, &bits, bytes);
}

template <class T>
T number(u64 bits, Element element) {
  switch (element) {
    case Element::f16: return static_cast<T>(to_float(Half{static_cast<u16>(bits)}));
    case Element::bf16: return static_cast<T>(to_float(Bfloat{static_cast<u16>(bits)}));
    case Element::tf32: return static_cast<T>(std::bit_cast<float>(static_cast<u32>(bits) & ~0x1fffu));
    case Element::f32: return static_cast<T>(std::bit_cast<float>(static_cast<u32>(bits)));
    case Element::f64: return static_cast<T>(std::bit_cast<double>(bits));
    case Element::s8: return static_cast<T>(static_cast<std::int8_t>(bits));
    case Element::u8: return static_cast<T>(static_cast<std::uint8_t>(bits));
    default: return static_cast<T>(static_cast<std::int32_t>(bits));
  }
}
template <class T>
u64 bits_of_number(T value, Element element) {
  switch (element) {
    case Element::f16: return to_half(static_cast<float>(value)).bits;
    case Element::bf16: return to_bfloat(static_cast<float>(value)).bits;
    case Element::f64: return std::bit_cast<u64>(static_cast<double>(value));
    case Element::s32: return static_cast<u32>(static_cast<std::int64_t>(value));
    default: return std::bit_cast<u32>(static_cast<float>(value));
  }
}

template <class T>
void gather(const Warp& w, const TensorFacts& facts, Part part, const u32* rows, T* matrix) {
  const unsigned count = fragment_elements(facts, part), columns = facts.columns(part);
  const Element element = facts.element(part);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < count; ++index) {
      const Cell cell = fragment_cell(facts, part, lane, index);
      matrix[cell.row * columns + cell.column] = number<T>(element_bits(w, rows, element, lane, index), element);
    }
}

template <class T>
T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, std::int64_t>) return a * b + c;
  else return std::fma(a, b, c);
}

// The list holds the rows of D, A, B and C in this order.
template <class T>
void multiply(Warp& w, const Instruction& i) {
  if (!whole_warp(w, i)) return;
  const TensorFacts& facts = facts_of(w, i);
  const u32* d = list_of(w, i);
  const u32 *a = d + facts.d_registers, *b = a + facts.a_registers, *c = b + facts.b_registers;
  T left[32 * 32], right[32 * 32], sum[32 * 32];
  gather(w, facts, Part::a, a, left);
  gather(w, facts, Part::b, b, right);
  gather(w, facts, Part::c, c, sum);
  for (unsigned row = 0; row < facts.m; ++row)
    for (unsigned k = 0; k < facts.k; ++k) {
      const T x = left[row * facts.k + k];
      for (unsigned column = 0; column < facts.n; ++column) {
        T& cell = sum[row * facts.n + column];
        if constexpr (std::is_same_v<T, float>) cell += x * right[k * facts.n + column];
        else cell = multiply_add<T>(x, right[k * facts.n + column], cell);
      }
    }
  const unsigned count = fragment_elements(facts, Part::d);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned index = 0; index < count; ++index) {
      const Cell cell = fragment_cell(facts, Part::d, lane, index);
      T value = sum[cell.row * facts.n + cell.column];
      if constexpr (std::is_same_v<T, std::int64_t>)
        if (facts.saturate) value = std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      set_element_bits(w, d, facts.d, lane, index, bits_of_number(value, facts.d));
    }
}

// Moves one line of a matrix in pieces of at most 16 bytes.
bool move_line(Warp& w, const Instruction& i, Space space, int lane, u64 address, std::byte* data, unsigned bytes, unsigned piece, bool store) {
  for (unsigned at = 0; at < bytes; at += piece) {
    const Place place = resolve(w, i, space, lane, address + at, piece);
    if (!place.host) {
      if (!store) std::memset(data + at, 0, piece);
      continue;
    }
    if (store) {
      std::memcpy(place.host, data + at, piece);
      note_store(place.allocation);
      if (place.flags) set_written(place.flags, place.offset, piece);
    } else {
      std::memcpy(data + at, place.host, piece);
      if (place.flags && w.worker->launch->report_unwritten && !all_written(place.flags, place.offset, piece))
        report(w, i, outcome::Finding::Kind::uninitialised, lane, address + at, "reads memory that nobody has written");
      else if (place.flags && (place.flags[place.offset / 4] & word_in_flight))
        report(w, i, outcome::Finding::Kind::in_flight_read, lane, address + at, "reads shared memory that an asynchronous copy has not delivered yet; wait for the copy first");
    }
    if (place.space == Space::shared && w.block->race_check) {
      u64 offsets[32];
      offsets[lane] = place.offset;
      shared_race(w, i, offsets, 1u << lane, piece, store);
    }
  }
  return true;
}

// What the lines of a fragment cost: 32-byte sectors of global memory, or wavefronts of shared memory in pieces of 16 bytes.
void count_lines(Warp& w, const Instruction& i, Space space, u64 address, u64 step, unsigned lines, unsigned bytes, Site& site) {
  if (space != Space::shared && address - shared_window >= window_bytes) {
    u64 places[32] = {};
    for (unsigned line = 0; line < lines; ++line) places[line] = address + line * step;
    site.sectors += count_sectors(places, lines >= 32 ? all_lanes : (1u << lines) - 1, bytes);
    if (w.block->recording) record_lines(w, i, address, step, lines, bytes);
    return;
  }
  const unsigned per_line = std::max(1u, bytes / 16), pieces = lines * per_line;
  for (unsigned first = 0; first < pieces; first += 32) {
    u64 places[32] = {};
    const unsigned count = std::min(32u, pieces - first);
    for (unsigned k = 0; k < count; ++k) places[k] = address + (first + k) / per_line * step + (first + k) % per_line * 16;
    site.wavefronts += count_wavefronts(places, count == 32 ? all_lanes : (1u << count) - 1, 16);
    site.ideal += std::max(1u, count / 8);
  }
}

// a: address, b: stride in elements, d: Space, list: the fragment's rows.
template <bool store>
void fragment(Warp& w, const Instruction& i) {
  if (!whole_warp(w, i)) return;
  const TensorFacts& facts = facts_of(w, i);
  const Part part = facts.part;
  const Element element = facts.element(part);
  const unsigned bytes = bytes_of(element), rows = facts.rows(part), columns = facts.columns(part), count = fragment_elements(facts, part);
  const int first = std::countr_zero(w.mask);
  const u64 base = row<const u64>(w, i.a)[first] + static_cast<u64>(i.immediate);
  const u64 stride = i.b == nowhere ? (facts.column_major ? rows : columns) : row<const u32>(w, i.b)[first];
  const u32* registers = list_of(w, i);
  Site& site = w.worker->sites[i.site];
  ++site.requests;
  site.lane_accesses += 32;
  const unsigned lines = facts.column_major ? columns : rows, length = facts.column_major ? rows : columns;
  const unsigned piece = std::min(16u, length * bytes);
  std::byte buffer[32 * 32 * 8];
  const auto at = [&](const Cell& cell) { return buffer + (facts.column_major ? cell.column * length + cell.row : cell.row * length + cell.column) * bytes; };
  if (store)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned index = 0; index < count; ++index) {
        const u64 bits = element_bits(w, registers, element, lane, index);
        std::memcpy(at(fragment_cell(facts, part, lane, index)), &bits, bytes);
      }
  count_lines(w, i, static_cast<Space>(i.d), base, stride * bytes, lines, length * bytes, site);
  for (unsigned line = 0; line < lines; ++line)
    move_line(w, i, static_cast<Space>(i.d), static_cast<int>(line), base + line * stride * bytes, buffer + line * length * bytes, length * bytes, piece, store);
  if (!store)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned index = 0; index < count; ++index) {
        u64 bits = 0;
        std::memcpy(&bits, at(fragment_cell(facts, part, lane, index)), bytes);
        set_element_bits(w, registers, element, lane, index, bits);
      }
}

// ldmatrix and stmatrix: 8 by 8 matrices of 16 bits; lane 8 i + r holds the address of row r of matrix i.
template <bool store>
void small_matrices(Warp& w, const Instruction& i) {
  if (!whole_warp(w, i)) return;
  const TensorFacts& facts = facts_of(w, i);
  const u64* addresses = row<const u64>(w, i.a);
  const u32* registers = list_of(w, i);
  Site& site = w.worker->sites[i.site];
  ++site.requests;
  site.lane_accesses += 32;
  site.ideal += facts.matrices;
  for (unsigned matrix = 0; matrix < facts.matrices; ++matrix) {
    u16 cells[8][8];
    u64 places[32] = {};
    const auto cell = [&](unsigned lane, unsigned half) -> u16& {
      return facts.transposed ? cells[2 * (lane % 4) + half][lane / 4] : cells[lane / 4][2 * (lane % 4) + half];
    };
    u32* values = row<u32>(w, registers[matrix]);
    if (store)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned half = 0; half < 2; ++half) cell(lane, half) = static_cast<u16>(values[lane] >> (16 * half));
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned lane = matrix * 8 + r;
      places[r] = addresses[lane] + static_cast<u64>(i.immediate);
      move_line(w, i, static_cast<Space>(i.d), static_cast<int>(lane), places[r], reinterpret_cast<std::byte*>(cells[r]), 16, 16, store);
    }
    site.wavefronts += count_wavefronts(places, 0xff, 16);
    if (!store)
      for (unsigned lane = 0; lane < 32; ++lane) values[lane] = cell(lane, 0) | static_cast<u32>(cell(lane, 1)) << 16;
  }
}

}  // namespace

void add_tensor_operations(Operations& table) {
  table["_mma.float"] = {"", &multiply<float>, &multiply<float>};
  table["_mma.double"] = {"", &multiply<double>, &multiply<double>};
  table["_mma.integer"] = {"", &multiply<std::int64_t>, &multiply<std::int64_t>};
  table["_wmma.load"] = {"", &fragment<false>, &fragment<false>};
  table["_wmma.store"] = {"", &fragment<true>, &fragment<true>};
  table["_ldmatrix"] = {"", &small_matrices<false>, &small_matrices<false>};
  table["_stmatrix"] = {"", &small_matrices<true>, &small_matrices<true>};
}

}  // namespace cudal1::sim
