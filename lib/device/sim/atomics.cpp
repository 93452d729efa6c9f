// SPDX-License-Identifier: Apache-2.0
// Read-modify-write operations: atom and red, lane after lane in lane order. Kernels whose result depends on the order of
// blocks run on one thread (Program::fixed_order); integer updates from several threads are atomic on the host too.
#include "sim/access.hpp"
#include "sim/cluster.hpp"
#include "sim/families.hpp"
#include "sim/small_float.hpp"

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
using s64 = std::int64_t;
using Kind = outcome::Finding::Kind;

// Global memory's float sums flush denormals, shared memory's do not.
float flushed(float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; }

// `extra` is the Space. The destination is `nowhere` for red.
template <class T, class F>
void atomic(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  const u64* base = row<const u64>(w, i.a);
  const T* b = row<const T>(w, i.b);
  const T* c = i.c == nowhere ? b : row<const T>(w, i.c);
  T* d = i.d == nowhere ? nullptr : row<T>(w, i.d);
  Site& site = w.worker->sites[i.site];
  if (w.block->recording && static_cast<Space>(i.extra) != Space::shared && static_cast<Space>(i.extra) != Space::cluster) record_atomic(w, i, base);
  alignas(64) u64 addresses[32] = {};
  u32 done = 0;
  bool shared = false;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 address = base[lane] + static_cast<u64>(i.immediate);
    const Place place = resolve(w, i, static_cast<Space>(i.extra), lane, address, sizeof(T));
    if (!place.host) {
      if (d) d[lane] = T{};
      continue;
    }
    if (place.flags && w.worker->launch->report_unwritten && !all_written(place.flags, place.offset, sizeof(T)))
      report(w, i, Kind::uninitialised, lane, address, "updates memory that nobody has written");
    done |= 1u << lane;
    addresses[lane] = address;
    shared = place.space == Space::shared;
    if (place.owner && place.owner != w.block) touch(w, i, lane, *place.owner, place.offset, sizeof(T), Touch::update);
    using Bits = std::conditional_t<sizeof(T) == 8, u64, std::conditional_t<sizeof(T) == 4, u32, u16>>;
    auto* cell = reinterpret_cast<Bits*>(place.host);
    Bits seen = __atomic_load_n(cell, __ATOMIC_RELAXED);
    for (;;) {
      Bits next = std::bit_cast<Bits>(F{}(std::bit_cast<T>(seen), b[lane], c[lane]));
      if constexpr (std::is_same_v<T, float>)
        if (!shared) next = std::bit_cast<Bits>(flushed(F{}(flushed(std::bit_cast<T>(seen)), flushed(b[lane]), c[lane])));
      if (next == seen || __atomic_compare_exchange_n(cell, &seen, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
    }
    note_store(place.allocation);
    if (place.flags) set_written(place.flags, place.offset, sizeof(T));
    if (d) d[lane] = std::bit_cast<T>(seen);
  }
  if (!done) return;
  ++site.requests;
  site.lane_accesses += static_cast<u64>(std::popcount(done));
  if (!shared) site.sectors += count_sectors(addresses, done, sizeof(T));
  // Lanes that update one address wait for each other.
  u64 worst = 1;
  for (u32 rest = done; rest; rest &= rest - 1) {
    u64 same = 0;
    for (u32 others = rest; others; others &= others - 1) same += addresses[std::countr_zero(others)] == addresses[std::countr_zero(rest)];
    worst = std::max(worst, same);
    if (worst * 2 > 32) break;
  }
  site.serial_steps += worst;
  if (shared) ++site.ideal, site.wavefronts += worst;
}

template <class T, class F>
void add_row(Operations& table, const std::string& name, F) {
  table["_atom." + name] = {"", &atomic<T, F>, &atomic<T, F>};
}

template <class T>
void bit_rows(Operations& table, const std::string& t) {
  add_row<T>(table, "and." + t, [](T m, T b, T) -> T { return m & b; });
  add_row<T>(table, "or." + t, [](T m, T b, T) -> T { return m | b; });
  add_row<T>(table, "xor." + t, [](T m, T b, T) -> T { return m ^ b; });
}
template <class T>
void swap_rows(Operations& table, const std::string& t) {
  add_row<T>(table, "exch." + t, [](T, T b, T) -> T { return b; });
  add_row<T>(table, "cas." + t, [](T m, T b, T c) -> T { return m == b ? c : m; });
}
template <class T>
void number_rows(Operations& table, const std::string& t) {
  using U = std::make_unsigned_t<T>;
  add_row<T>(table, "add." + t, [](T m, T b, T) -> T { return static_cast<T>(static_cast<U>(m) + static_cast<U>(b)); });
  add_row<T>(table, "min." + t, [](T m, T b, T) -> T { return std::min(m, b); });
  add_row<T>(table, "max." + t, [](T m, T b, T) -> T { return std::max(m, b); });
}

template <class S>
u32 both_halves(u32 a, u32 b, S f) {
  return static_cast<u32>(f(static_cast<u16>(a), static_cast<u16>(b))) | static_cast<u32>(f(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))) << 16;
}
u16 add_half(u16 a, u16 b) { return to_half(to_float(Half{a}) + to_float(Half{b})).bits; }
u16 add_bfloat(u16 a, u16 b) { return to_bfloat(to_float(Bfloat{a}) + to_float(Bfloat{b})).bits; }
u16 least_half(u16 a, u16 b) { return to_half(std::fmin(to_float(Half{a}), to_float(Half{b}))).bits; }
u16 most_half(u16 a, u16 b) { return to_half(std::fmax(to_float(Half{a}), to_float(Half{b}))).bits; }
u16 least_bfloat(u16 a, u16 b) { return to_bfloat(std::fmin(to_float(Bfloat{a}), to_float(Bfloat{b}))).bits; }
u16 most_bfloat(u16 a, u16 b) { return to_bfloat(std::fmax(to_float(Bfloat{a}), to_float(Bfloat{b}))).bits; }

template <u16 (*f)(u16, u16)>
void small_rows(Operations& table, const std::string& op, const std::string& t) {
  add_row<u16>(table, op + "." + t, [](u16 m, u16 b, u16) -> u16 { return f(m, b); });
  add_row<u32>(table, op + "." + t + "x2", [](u32 m, u32 b, u32) -> u32 { return both_halves(m, b, f); });
}

}  // namespace

void add_atomics(Operations& table) {
  bit_rows<u32>(table, "b32"), bit_rows<u64>(table, "b64");
  swap_rows<u16>(table, "b16"), swap_rows<u32>(table, "b32"), swap_rows<u64>(table, "b64");
  number_rows<u32>(table, "u32"), number_rows<s32>(table, "s32"), number_rows<u64>(table, "u64"), number_rows<s64>(table, "s64");
  add_row<u32>(table, "inc.u32", [](u32 m, u32 b, u32) -> u32 { return m >= b ? 0 : m + 1; });
  add_row<u32>(table, "dec.u32", [](u32 m, u32 b, u32) -> u32 { return m == 0 || m > b ? b : m - 1; });

  add_row<float>(table, "add.f32", [](float m, float b, float) -> float { const float s = m + b; return s == s ? s : std::bit_cast<float>(0x7fffffffu); });
  add_row<double>(table, "add.f64", [](double m, double b, double) -> double { return m + b; });
  small_rows<add_half>(table, "add", "f16"), small_rows<add_bfloat>(table, "add", "bf16");
  small_rows<least_half>(table, "min", "f16"), small_rows<most_half>(table, "max", "f16");
  small_rows<least_bfloat>(table, "min", "bf16"), small_rows<most_bfloat>(table, "max", "bf16");
}

}  // namespace cudal1::sim
