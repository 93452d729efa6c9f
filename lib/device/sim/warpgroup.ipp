// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async. Sums are Hopper's to the bit, as Xie and others measured it (MMA-Sim, arXiv:2511.10909) and as Khattak and
// Mikaitis did (arXiv:2512.07004): the products of one instruction and the addend are aligned to the largest exponent, which is
// taken of the factors before they are multiplied and is never below -133, cut to 25 fractional bits, added exactly, and the sum is cut to
// a float. With factors of 8 bits it is 13 fractional bits, of the sum too. A sum that becomes a half is rounded to nearest instead.
#pragma once

#include "sim/access.hpp"
#include "sim/asynchrony.hpp"
#include "sim/matrix_descriptor.ipp"
#include "sim/operation.hpp"
#include "sim/small_float.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace cudal1::sim {
namespace {
namespace warpgroup {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using Kind = outcome::Finding::Kind;

constexpr int most_depth = 32, most_columns = 256, fraction_bits = 25, few_fraction_bits = 13, zero_exponent = -1000;  // a zero takes no part in the alignment
// Exponents of the smallest normal sum, of halves and of floats; sums are aligned to one that is at most seven smaller (H200).
constexpr s32 least_half = -14, least_float = -126, below_least = 7;

// One warp's share: 16 rows of A, all columns of B.
struct Share {
  alignas(64) float a[16][most_depth];
  alignas(64) s32 a_exponent[16][most_depth];
  alignas(64) float b[most_depth][most_columns];
  alignas(64) s32 b_exponent[most_depth][most_columns];
  alignas(64) float c[16][most_columns];
  bool plain = true;   // no infinity, no NaN, and every product fits a float exactly
};

inline float value_of(u32 bits, Element element) {
  if (element == Element::f16) return to_float(Half{static_cast<u16>(bits)});
  if (element == Element::bf16) return to_float(Bfloat{static_cast<u16>(bits)});
  if (element == Element::e4m3) return e4m3_to_float(static_cast<std::uint8_t>(bits));
  if (element == Element::e5m2) return e5m2_to_float(static_cast<std::uint8_t>(bits));
  return std::bit_cast<float>(bits & ~0x1fffu);
}

// Of a significand below 2 where the type has no smaller exponent.
inline s32 exponent_of(float v, s32 least) {
  const u32 magnitude = std::bit_cast<u32>(v) & 0x7fffffffu;
  if (magnitude == 0) return zero_exponent;
  return std::max(static_cast<s32>(magnitude >> 23) - 127, least);
}

inline void put(Share& share, float v, Element element, float& value, s32& exponent) {
  value = v;
  exponent = exponent_of(v, element == Element::f16 || element == Element::e5m2 ? -14 : element == Element::e4m3 ? -6 : -126);
  if (!std::isfinite(v) || (v != 0 && (exponent > 60 || exponent < -60))) share.plain = false;
}

// Rounded so that rounding it again to a half is rounding once: cut, with the last bit set where something was cut off.
inline float odd(double exact) {
  const float nearest = static_cast<float>(exact);
  if (static_cast<double>(nearest) == exact || std::isinf(nearest)) return nearest;
  const float below = std::fabs(static_cast<double>(nearest)) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<u32>(below) | 1u);
}

// Never -0.
inline u16 half_of(float sum) {
  const u16 bits = to_half(sum).bits;
  return (bits & 0x7fff) == 0 ? u16{0} : bits;
}

// Cuts an exact sum to a float. `sum` units of 2^unit; |sum| < 2^40.
inline float cut(s64 sum, s32 unit) {
  const double exact = std::ldexp(static_cast<double>(sum), unit);
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest)) return std::fabs(exact) >= 0x1p128 ? nearest : std::copysign(std::numeric_limits<float>::max(), nearest);
  const float below = std::fabs(static_cast<double>(nearest)) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
  return below == 0 ? 0.0f : below;  // never -0
}

// The same for a sum of factors of 8 bits: thirteen bits of its fraction stay.
template <int bits>
inline float cut_sum(s64 sum, s32 unit) {
  const float whole = cut(sum, unit);
  if (bits == fraction_bits || !std::isfinite(whole)) return whole;
  return std::bit_cast<float>(std::bit_cast<u32>(whole) & ~((1u << (23 - few_fraction_bits)) - 1));
}

// Any values, one cell.
template <int bits>
inline float cell_sum(const Share& share, int row, int column, int depth, bool half_result) {
  double plain = share.c[row][column];
  s32 largest = exponent_of(share.c[row][column], half_result ? least_half : least_float);
  for (int k = 0; k < depth; ++k) {
    plain += static_cast<double>(share.a[row][k]) * share.b[k][column];
    largest = std::max(largest, share.a_exponent[row][k] + share.b_exponent[k][column]);
  }
  if (std::isnan(plain)) return std::bit_cast<float>(0x7fffffffu);
  if (std::isinf(plain)) return static_cast<float>(plain);
  if (largest < zero_exponent / 2) return 0;
  largest = std::max(largest, (half_result ? least_half : least_float) - below_least);
  s64 sum = static_cast<s64>(std::ldexp(static_cast<double>(share.c[row][column]), bits - largest));
  for (int k = 0; k < depth; ++k)
    sum += static_cast<s64>(std::ldexp(static_cast<double>(share.a[row][k]) * share.b[k][column], bits - largest));
  if (half_result) return odd(std::ldexp(static_cast<double>(sum), largest - bits));
  return cut_sum<bits>(sum, largest - bits);
}

// A row at once. Products are exact in float, and so is their shift to integers.
template <int bits>
inline void row_sums(Share& share, int row, int columns, int depth) {
  constexpr s32 smallest = -100;
  alignas(64) s32 largest[most_columns];
  alignas(64) float scale[most_columns];
  alignas(64) s32 low[most_columns], high[most_columns];
  float* c = share.c[row];
  bool small = false;
  for (int j = 0; j < columns; ++j) {
    const u32 magnitude = std::bit_cast<u32>(c[j]) & 0x7fffffffu;
    largest[j] = magnitude == 0 ? zero_exponent : std::max(static_cast<s32>(magnitude >> 23) - 127, -126);
  }
  for (int k = 0; k < depth; ++k) {
    const s32 exponent = share.a_exponent[row][k];
    const s32* b = share.b_exponent[k];
    for (int j = 0; j < columns; ++j) largest[j] = std::max(largest[j], exponent + b[j]);
  }
  for (int j = 0; j < columns; ++j) {
    small |= largest[j] < smallest || largest[j] > 120;
    const s32 bounded = std::min(std::max(largest[j], smallest), 120);
    scale[j] = std::bit_cast<float>(static_cast<u32>(bits - bounded + 127) << 23);
    low[j] = static_cast<s32>(c[j] * scale[j]);
    high[j] = 0;
  }
  for (int k = 0; k < depth; k += 2) {
    const float first = share.a[row][k], second = share.a[row][k + 1];
    const float *b0 = share.b[k], *b1 = share.b[k + 1];
    for (int j = 0; j < columns; ++j) {
      low[j] += static_cast<s32>(first * b0[j] * scale[j]);
      high[j] += static_cast<s32>(second * b1[j] * scale[j]);
    }
  }
  if (!small) {
    for (int j = 0; j < columns; ++j) c[j] = cut_sum<bits>(s64{low[j]} + high[j], largest[j] - bits);
    return;
  }
  for (int j = 0; j < columns; ++j)
    c[j] = largest[j] < smallest || largest[j] > 120 ? cell_sum<bits>(share, row, j, depth, false) : cut_sum<bits>(s64{low[j]} + high[j], largest[j] - bits);
}

// Reads 16-byte pieces with every check and pins them.
class Reader {
 public:
  Reader(Warp& w, const Instruction& i, Asynchrony::Group& group) : w_(w), i_(i), group_(group), async_(*w.block->asynchrony) {}
  const std::byte* piece(const Descriptor& descriptor, u32 offset, const char* reader) {
    static constexpr std::byte nothing[16]{};
    if (!readable(w_, i_, 0, offset, reader)) return nothing;
    const u32 chunk = offset / Asynchrony::chunk_bytes;
    if (const u32 layout = async_.layouts[chunk]; layout != 0 && layout != descriptor.swizzle)
      report(w_, i_, Kind::other, 0, offset,
             fmt::format("{} reads with {} what a tensor copy wrote with {}", reader, swizzle_name(descriptor.swizzle), swizzle_name(layout)));
    pin(*w_.block, group_, chunk);
    if (w_.block->race_check) {
      offsets_[count_++] = offset;
      if (count_ == 32) flush();
    }
    return w_.block->shared + offset;
  }
  void flush() {
    if (count_ == 0) return;
    shared_race(w_, i_, offsets_, count_ == 32 ? all_lanes : (1u << count_) - 1, 16, false);
    count_ = 0;
  }

 private:
  static const char* swizzle_name(u32 pieces) {
    return pieces == 1 ? "no swizzle" : pieces == 2 ? "a swizzle of 32 bytes" : pieces == 4 ? "a swizzle of 64 bytes" : "a swizzle of 128 bytes";
  }
  Warp& w_;
  const Instruction& i_;
  Asynchrony::Group& group_;
  Asynchrony& async_;
  u64 offsets_[32];
  u32 count_ = 0;
};

inline void read_b(Share& share, Reader& reader, const TensorFacts& facts, const Descriptor& descriptor) {
  const u32 size = bytes_of(facts.b), each = 16 / size;
  const float sign = facts.negate_b ? -1.0f : 1.0f;
  const auto element = [&](const std::byte* at, u32 k) {
    u32 bits = 0;
    std::memcpy(&bits, at + k * size, size);
    return sign * value_of(bits, facts.b);
  };
  if (!facts.transposed_b) {
    for (u32 n = 0; n < facts.n; ++n)
      for (u32 piece = 0; piece < facts.k / each; ++piece) {
        const std::byte* at = reader.piece(descriptor, descriptor.place(n, piece, false), "wgmma (B)");
        for (u32 k = 0; k < each; ++k) put(share, element(at, k), facts.b, share.b[piece * each + k][n], share.b_exponent[piece * each + k][n]);
      }
    return;
  }
  for (u32 k = 0; k < facts.k; ++k)
    for (u32 piece = 0; piece < facts.n / each; ++piece) {
      const std::byte* at = reader.piece(descriptor, descriptor.place(piece, k, true), "wgmma (B)");
      for (u32 n = 0; n < each; ++n) put(share, element(at, n), facts.b, share.b[k][piece * each + n], share.b_exponent[k][piece * each + n]);
    }
}

inline void read_a(Share& share, Reader& reader, const TensorFacts& facts, const Descriptor& descriptor, u32 quarter) {
  const u32 size = bytes_of(facts.a), each = 16 / size;
  const float sign = facts.negate_a ? -1.0f : 1.0f;
  const auto element = [&](const std::byte* at, u32 k) {
    u32 bits = 0;
    std::memcpy(&bits, at + k * size, size);
    return sign * value_of(bits, facts.a);
  };
  if (!facts.transposed) {
    for (u32 m = 0; m < 16; ++m)
      for (u32 piece = 0; piece < facts.k / each; ++piece) {
        const std::byte* at = reader.piece(descriptor, descriptor.place(16 * quarter + m, piece, false), "wgmma (A)");
        for (u32 k = 0; k < each; ++k) put(share, element(at, k), facts.a, share.a[m][piece * each + k], share.a_exponent[m][piece * each + k]);
      }
    return;
  }
  for (u32 k = 0; k < facts.k; ++k)
    for (u32 piece = 0; piece < 16 / each; ++piece) {
      const std::byte* at = reader.piece(descriptor, descriptor.place(16 / each * quarter + piece, k, true), "wgmma (A)");
      for (u32 m = 0; m < each; ++m) put(share, element(at, m), facts.a, share.a[piece * each + m][k], share.a_exponent[piece * each + m][k]);
    }
}

// Fragments as those of mma.sync.
inline void take_a(Share& share, const Warp& w, const TensorFacts& facts, const u32* rows) {
  const u32 packed = 4 / bytes_of(facts.a), each = 32 / packed;
  const float sign = facts.negate_a ? -1.0f : 1.0f;
  for (u32 r = 0; r < 4; ++r)
    for (u32 lane = 0; lane < 32; ++lane) {
      const u32 bits = row<const u32>(w, rows[r])[lane];
      for (u32 h = 0; h < packed; ++h) {
        const u32 m = lane / 4 + 8 * (r & 1), k = lane % 4 * packed + h + 4 * packed * (r >> 1);
        put(share, sign * value_of(packed == 1 ? bits : bits >> (each * h) & ((1u << each) - 1), facts.a), facts.a, share.a[m][k], share.a_exponent[m][k]);
      }
    }
}

// What is not read (`keep` is false) may have been written at any time.
inline void note_registers(Warp& w, const Instruction& i, const TensorFacts& facts, Asynchrony::WarpState& state, bool keep) {
  const StatementFacts& statement = w.worker->launch->program->statements[i.statement];
  if (state.accumulator.empty()) {
    const std::size_t count = w.worker->launch->program->registers;
    state.accumulator.assign(count, 0), state.operand.assign(count, 0), state.written_after.assign(count, 0);
  }
  if (state.fences == 0)
    report(w, i, Kind::in_flight_read, 0, 0, "wgmma.mma_async without a wgmma.fence before it; run wgmma.fence after the last ordinary access to its registers");
  const u32 group = state.committed + 1;
  for (const u32 r : statement.writes) {
    if (keep && state.written_after[r] > state.fences)
      report(w, i, Kind::in_flight_read, 0, 0, "an accumulator was written since the last wgmma.fence; run wgmma.fence between that and wgmma.mma_async");
    state.accumulator[r] = group;
  }
  for (u32 r = 0; r < facts.a_registers && r < statement.reads.size(); ++r) state.operand[statement.reads[r]] = group;
  state.open.statement = i.statement;
  ++state.products;
  w.watched = true;
}

// a, b: descriptors (a: nowhere where A is in registers), c: the predicate that keeps D as an addend; list: rows of D and A.
inline void multiply(Warp& w, const Instruction& i) {
  if (w.mask != all_lanes) {
    if (w.mask) report(w, i, Kind::bad_warp_mask, std::countr_zero(w.mask), 0, "wgmma is run by a part of its warp");
    return;
  }
  if (w.index / 4 * 4 + 4 > w.block->warps.size())
    return report(w, i, Kind::bad_warp_mask, 0, 0, "wgmma needs the four warps of a warpgroup; this block ends before the fourth");
  const TensorFacts& facts = w.worker->launch->program->tensors[i.extra];
  w.block->executed += std::uint64_t{facts.n} * facts.k / 4;   // the time that it takes here, about that of so many plain instructions
  Asynchrony::WarpState& state = asynchrony(*w.block).warps[w.index];
  const bool keep = i.c == nowhere || (*row<const u32>(w, i.c) & 1);
  note_registers(w, i, facts, state, keep);
  const u32* d = w.worker->launch->program->lists.data() + i.list;
  const bool half_result = facts.d == Element::f16;
  static thread_local Share share;
  share.plain = true;
  Reader reader(w, i, state.open);
  const Descriptor right(row<const u64>(w, i.b)[0]);
  if (facts.a_registers > 0) {
    if (right.base_offset != 0) report(w, i, Kind::other, 0, 0, "sim does not know descriptors with a base offset");
    take_a(share, w, facts, d + facts.d_registers);
  } else {
    const Descriptor left(row<const u64>(w, i.a)[0]);
    if ((left.base_offset | right.base_offset) != 0) report(w, i, Kind::other, 0, 0, "sim does not know descriptors with a base offset");
    read_a(share, reader, facts, left, w.index % 4);
  }
  read_b(share, reader, facts, right);
  reader.flush();
  const auto each_cell = [&](auto apply) {
    for (u32 index = 0; index < facts.n / 2; ++index)
      for (u32 lane = 0; lane < 32; ++lane) apply(index, lane, lane / 4 + 8 * (index / 2 % 2), 8 * (index / 4) + lane % 4 * 2 + index % 2);
  };
  each_cell([&](u32 index, u32 lane, u32 m, u32 n) {
    if (!keep) share.c[m][n] = 0;
    else if (half_result) share.c[m][n] = to_float(Half{row<const u16>(w, d[index / 2])[2 * lane + index % 2]});
    else share.c[m][n] = row<const float>(w, d[index])[lane];
    if (!std::isfinite(share.c[m][n])) share.plain = false;
  });
  const bool few = bytes_of(facts.a) == 1;
  const int columns = static_cast<int>(facts.n), depth = static_cast<int>(facts.k);
  for (int m = 0; m < 16; ++m) {
    if (share.plain && !half_result) {
      few ? row_sums<few_fraction_bits>(share, m, columns, depth) : row_sums<fraction_bits>(share, m, columns, depth);
      continue;
    }
    for (int n = 0; n < columns; ++n)
      share.c[m][n] = few ? cell_sum<few_fraction_bits>(share, m, n, depth, half_result) : cell_sum<fraction_bits>(share, m, n, depth, half_result);
  }
  each_cell([&](u32 index, u32 lane, u32 m, u32 n) {
    if (half_result) row<u16>(w, d[index / 2])[2 * lane + index % 2] = half_of(share.c[m][n]);
    else row<float>(w, d[index])[lane] = share.c[m][n];
  });
}

inline void fence(Warp& w, const Instruction&) {
  if (w.mask) ++asynchrony(*w.block).warps[w.index].fences;
}

inline void commit(Warp& w, const Instruction&) {
  if (!w.mask) return;
  Asynchrony::WarpState& state = asynchrony(*w.block).warps[w.index];
  const u32 statement = state.open.statement;
  state.groups.push_back(std::move(state.open));
  state.open = {};
  state.open.statement = statement;
  ++state.committed;
}

// immediate: how many of the newest groups may stay.
inline void wait(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  Asynchrony::WarpState& state = asynchrony(*w.block).warps[w.index];
  while (state.groups.size() > static_cast<std::size_t>(std::max<std::int64_t>(0, i.immediate))) {
    release(w, state.groups.front(), "wgmma");
    state.groups.pop_front();
    ++state.done;
  }
}

}  // namespace warpgroup

void warpgroup_rows(Operations& table) {
  table["_wgmma"] = {"", &warpgroup::multiply, &warpgroup::multiply};
  table["_wgmma.fence"] = {"", &warpgroup::fence, &warpgroup::fence};
  table["_wgmma.commit"] = {"", &warpgroup::commit, &warpgroup::commit};
  table["_wgmma.wait"] = {"", &warpgroup::wait, &warpgroup::wait};
}

}  // namespace
}  // namespace cudal1::sim
