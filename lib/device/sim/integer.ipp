// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, logic and bit operations.
#pragma once

#include "sim/elementwise.ipp"

#include <algorithm>
#include <limits>

namespace cudal1::sim {
namespace {

template <class T>
constexpr T top = std::numeric_limits<T>::max();

template <class W, class U, class S>
void arithmetic_rows(const Adder& add, const std::string& s, const std::string& u, const std::string& b) {
  for (const std::string& t : {s, u}) {
    add("add." + t, [](U a, U c) -> U { return static_cast<U>(a + c); });
    add("sub." + t, [](U a, U c) -> U { return static_cast<U>(a - c); });
    add("mul.lo." + t, [](U a, U c) -> U { return static_cast<U>(W(a) * c); });
    add("mad.lo." + t, [](U a, U c, U e) -> U { return static_cast<U>(W(a) * c + e); });
  }
  add("min." + s, [](S a, S c) -> S { return a < c ? a : c; });
  add("max." + s, [](S a, S c) -> S { return a > c ? a : c; });
  add("min." + u, [](U a, U c) -> U { return a < c ? a : c; });
  add("max." + u, [](U a, U c) -> U { return a > c ? a : c; });
  add("abs." + s, [](S a) -> U { return static_cast<U>(a < 0 ? U{0} - static_cast<U>(a) : static_cast<U>(a)); });
  add("neg." + s, [](U a) -> U { return static_cast<U>(U{0} - a); });
  add("and." + b, [](U a, U c) -> U { return a & c; });
  add("or." + b, [](U a, U c) -> U { return a | c; });
  add("xor." + b, [](U a, U c) -> U { return a ^ c; });
  add("not." + b, [](U a) -> U { return static_cast<U>(~a); });
  add("cnot." + b, [](U a) -> U { return a == 0; });
  constexpr u32 bits = sizeof(U) * 8;
  add("shl." + b, [](U a, u32 n) -> U { return n >= bits ? U{0} : static_cast<U>(a << (n & (bits - 1))); });
  for (const std::string& t : {b, u})
    add("shr." + t, [](U a, u32 n) -> U { return n >= bits ? U{0} : static_cast<U>(a >> (n & (bits - 1))); });
  add("shr." + s, [](S a, u32 n) -> S { return static_cast<S>(a >> (n >= bits ? bits - 1 : n)); });
  add("sad." + s, [](S a, S c, U e) -> U { return static_cast<U>(e + (a < c ? static_cast<U>(c) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(c))); });
  add("sad." + u, [](U a, U c, U e) -> U { return static_cast<U>(e + (a < c ? c - a : a - c)); });
  for (const std::string& t : {s, b}) {
    add("setp.eq." + t, [](U a, U c) -> bool { return a == c; });
    add("setp.ne." + t, [](U a, U c) -> bool { return a != c; });
  }
  add("setp.eq." + u, [](U a, U c) -> bool { return a == c; });
  add("setp.ne." + u, [](U a, U c) -> bool { return a != c; });
  add("setp.lt." + s, [](S a, S c) -> bool { return a < c; });
  add("setp.le." + s, [](S a, S c) -> bool { return a <= c; });
  add("setp.gt." + s, [](S a, S c) -> bool { return a > c; });
  add("setp.ge." + s, [](S a, S c) -> bool { return a >= c; });
  for (const std::string& name : {"lt." + u, "lo." + u}) add("setp." + name, [](U a, U c) -> bool { return a < c; });
  for (const std::string& name : {"le." + u, "ls." + u}) add("setp." + name, [](U a, U c) -> bool { return a <= c; });
  for (const std::string& name : {"gt." + u, "hi." + u}) add("setp." + name, [](U a, U c) -> bool { return a > c; });
  for (const std::string& name : {"ge." + u, "hs." + u}) add("setp." + name, [](U a, U c) -> bool { return a >= c; });
}

template <class T, class W>
void high_and_wide_rows(const Adder& add, const std::string& t) {
  constexpr int bits = sizeof(T) * 8;
  add("mul.hi." + t, [](T a, T b) -> T { return static_cast<T>((W(a) * W(b)) >> bits); });
  add("mad.hi." + t, [](T a, T b, T c) -> T { return static_cast<T>(((W(a) * W(b)) >> bits) + c); });
  if constexpr (sizeof(T) < 8) {
    add("mul.wide." + t, [](T a, T b) -> W { return W(a) * W(b); });
    using U = std::make_unsigned_t<W>;
    add("mad.wide." + t, [](T a, T b, U c) -> U { return static_cast<U>(W(a) * W(b)) + c; });
  }
}

// PTX leaves division by zero undefined; the hardware gives all ones, and the dividend as the remainder. It is reported.
template <class T, bool remainder>
void divide(Warp& w, const Instruction& i) {
  T* d = row<T>(w, i.d);
  const T* a = row<const T>(w, i.a);
  const T* b = row<const T>(w, i.b);
  u32 zero = 0;
  CUDAL1_LANES zero |= static_cast<u32>(b[l] == 0) << l;
  zero &= w.mask;
  if (zero) report(w, i, outcome::Finding::Kind::division_by_zero, std::countr_zero(zero), 0, "an integer is divided by zero");
  const bool uniform_power = std::is_unsigned_v<T> && w.mask == all_lanes && std::has_single_bit(static_cast<std::make_unsigned_t<T>>(b[0]));
  if (uniform_power) {
    const T first = b[0];
    bool same = true;
    CUDAL1_LANES same &= b[l] == first;
    if (same) {
      const int shift = std::countr_zero(static_cast<std::make_unsigned_t<T>>(first));
      CUDAL1_LANES d[l] = remainder ? static_cast<T>(a[l] & (first - 1)) : static_cast<T>(a[l] >> shift);
      return;
    }
  }
  for (int l = 0; l < 32; ++l) {
    if (!(w.mask >> l & 1)) continue;
    const T x = a[l], y = b[l];
    if (y == 0) d[l] = remainder ? x : static_cast<T>(~T{0});
    else if (std::is_signed_v<T> && y == static_cast<T>(-1)) d[l] = remainder ? T{0} : static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else d[l] = static_cast<T>(remainder ? x % y : x / y);
  }
}

template <class T>
void division_rows(const Adder& add, const std::string& t) {
  const char width = static_cast<char>('0' + sizeof(T));
  add.whole("div." + t, std::string(3, width), &divide<T, false>);
  add.whole("rem." + t, std::string(3, width), &divide<T, true>);
}

// The place of the |offset|-th set bit of a mask, from `base` on upwards, or downwards where the offset is negative.
inline u32 nth_set_bit(u32 mask, u32 base, u32 offset) {
  const s32 wanted = static_cast<s32>(offset);
  if (wanted == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
  s64 left = wanted < 0 ? -s64{wanted} : s64{wanted};
  for (s64 at = base; at >= 0 && at < 32; at += wanted < 0 ? -1 : 1)
    if ((mask >> at & 1) && --left == 0) return static_cast<u32>(at);
  return ~0u;
}

inline u32 reverse_bits(u32 v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}

template <class T>
u32 top_bit(T a) {  // of a magnitude; all ones when there is none
  using U = std::make_unsigned_t<T>;
  const U v = std::is_signed_v<T> && a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
  return v == 0 ? ~0u : static_cast<u32>(std::bit_width(v) - 1);
}

// A field's position or length: of 32 bits the operand's low byte counts, of 64 bits all of it, as the hardware has it.
template <u32 bits>
u32 field_operand(u32 v) {
  return bits == 64 ? std::min(v, 255u) : v & 0xff;
}

template <class T>
T extract_field(T a, u32 b, u32 c) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 bits = sizeof(T) * 8;
  const u32 position = field_operand<bits>(b), length = field_operand<bits>(c);
  const U v = static_cast<U>(a);
  if (length == 0) return 0;
  const u32 last = std::min(position + length - 1, bits - 1);
  const bool sign = std::is_signed_v<T> && (v >> last & 1);
  U field = position >= bits ? U{0} : static_cast<U>(v >> position);
  const u32 kept = position >= bits ? 0 : std::min(length, bits - position);
  if (kept < bits) {
    const U mask = static_cast<U>((U{1} << kept) - 1);
    field = static_cast<U>((field & mask) | (sign ? ~mask : U{0}));
  }
  return static_cast<T>(field);
}

template <class U>
U insert_field(U a, U b, u32 c, u32 d) {
  constexpr u32 bits = sizeof(U) * 8;
  const u32 position = field_operand<bits>(c), length = field_operand<bits>(d);
  if (position >= bits || length == 0) return b;
  const u32 kept = std::min(length, bits - position);
  const U mask = static_cast<U>((kept >= bits ? ~U{0} : (U{1} << kept) - 1) << position);
  return static_cast<U>((b & ~mask) | ((a << position) & mask));
}

template <class U>
void insert_bits(Warp& w, const Instruction& i) {  // four sources: the last stands in the list's place
  U* d = row<U>(w, i.d);
  const U *a = row<const U>(w, i.a), *b = row<const U>(w, i.b);
  const u32 *c = row<const u32>(w, i.c), *e = row<const u32>(w, i.extra);
  for (int l = 0; l < 32; ++l)
    if (w.mask >> l & 1) d[l] = insert_field<U>(a[l], b[l], c[l], e[l]);
}

template <class T>
void field_rows(const Adder& add, const std::string& t) {
  add("bfe." + t, [](T a, u32 b, u32 c) -> T { return extract_field<T>(a, b, c); });
  add("bfind." + t, [](T a) -> u32 { return top_bit<T>(a); });
  add("bfind.shiftamt." + t, [](T a) -> u32 { const u32 p = top_bit<T>(a); return p == ~0u ? p : static_cast<u32>(sizeof(T) * 8 - 1) - p; });
}

u32 pick_bytes(u32 a, u32 b, u32 selector) {
  const u64 both = static_cast<u64>(b) << 32 | a;
  u32 result = 0;
  for (int k = 0; k < 4; ++k) {
    const u32 s = selector >> (4 * k) & 15;
    u32 byte = static_cast<u32>(both >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}

// The modes of prmt, as selectors for each value of the low two bits of c.
u32 pick_mode(u32 a, u32 b, u32 c, const char* const* table) {
  u32 selector = 0;
  for (const char* digit = table[c & 3]; *digit; ++digit) selector = selector << 4 | static_cast<u32>(*digit - '0');
  return pick_bytes(a, b, selector);
}
constexpr const char* forward4[] = {"3210", "4321", "5432", "6543"};
constexpr const char* backward4[] = {"5670", "6701", "7012", "0123"};
constexpr const char* replicate8[] = {"0000", "1111", "2222", "3333"};
constexpr const char* edge_left[] = {"3210", "3211", "3222", "3333"};
constexpr const char* edge_right[] = {"0000", "1110", "2210", "3210"};
constexpr const char* replicate16[] = {"1010", "3232", "1010", "3232"};

void logic3(Warp& w, const Instruction& i) {
  u32* d = row<u32>(w, i.d);
  const u32 *a = row<const u32>(w, i.a), *b = row<const u32>(w, i.b), *c = row<const u32>(w, i.c);
  const u32* lanes = w.lanes.data();
  const u32 table = *row<const u32>(w, i.extra);
  CUDAL1_LANES {
    u32 v = 0;
    const u32 x = a[l], y = b[l], z = c[l];
    v |= table & 1 ? ~x & ~y & ~z : 0;
    v |= table & 2 ? ~x & ~y & z : 0;
    v |= table & 4 ? ~x & y & ~z : 0;
    v |= table & 8 ? ~x & y & z : 0;
    v |= table & 16 ? x & ~y & ~z : 0;
    v |= table & 32 ? x & ~y & z : 0;
    v |= table & 64 ? x & y & ~z : 0;
    v |= table & 128 ? x & y & z : 0;
    d[l] = lanes[l] ? v : d[l];
  }
}

template <class A, class B>
u32 dot4(u32 a, u32 b, u32 c) {
  u32 sum = c;
  for (int k = 0; k < 4; ++k) sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> (8 * k))) * static_cast<s32>(static_cast<B>(b >> (8 * k))));
  return sum;
}
template <class A, class B, int half>
u32 dot2(u32 a, u32 b, u32 c) {
  u32 sum = c;
  for (int k = 0; k < 2; ++k)
    sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> (16 * k)))) * static_cast<u32>(static_cast<s32>(static_cast<B>(b >> (16 * half + 8 * k))));
  return sum;
}

template <class T>
T saturated(s64 v) {
  return static_cast<T>(std::clamp<s64>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class T>
void pair_rows(const Adder& add, const std::string& t) {  // two 16-bit values in a word
  add("add." + t, [](u32 a, u32 b) -> u32 { return ((a & 0xffff) + (b & 0xffff)) % 0x10000u | ((a >> 16) + (b >> 16)) << 16; });
  add("min." + t, [](u32 a, u32 b) -> u32 {
    return static_cast<u16>(std::min(static_cast<T>(a), static_cast<T>(b))) | static_cast<u32>(static_cast<u16>(std::min(static_cast<T>(a >> 16), static_cast<T>(b >> 16)))) << 16;
  });
  add("max." + t, [](u32 a, u32 b) -> u32 {
    return static_cast<u16>(std::max(static_cast<T>(a), static_cast<T>(b))) | static_cast<u32>(static_cast<u16>(std::max(static_cast<T>(a >> 16), static_cast<T>(b >> 16)))) << 16;
  });
}

// Arithmetic with the carry of the instruction before; `extra` is the slab offset of the warp's carry mask.
template <class T, bool subtract, bool take, bool give>
void with_carry(Warp& w, const Instruction& i) {
  T* d = row<T>(w, i.d);
  const T *a = row<const T>(w, i.a), *b = row<const T>(w, i.b);
  u32* carry = row<u32>(w, i.extra);
  u32 out = *carry;
  for (int l = 0; l < 32; ++l) {
    if (!(w.mask >> l & 1)) continue;
    const T in = take ? static_cast<T>(*carry >> l & 1) : T{0};
    const T x = a[l], y = b[l];
    const T r = subtract ? static_cast<T>(x - y - in) : static_cast<T>(x + y + in);
    const bool over = subtract ? x < y || (in && x == y) : r < x || (in && r == x);
    d[l] = r;
    if (give) out = (out & ~(1u << l)) | static_cast<u32>(over) << l;
  }
  *carry = out;
}

template <class T, bool high, bool take, bool give>
void multiply_with_carry(Warp& w, const Instruction& i) {
  __extension__ using Wide = unsigned __int128;
  using W = std::conditional_t<sizeof(T) == 8, Wide, u64>;
  T* d = row<T>(w, i.d);
  const T *a = row<const T>(w, i.a), *b = row<const T>(w, i.b), *c = row<const T>(w, i.c);
  u32* carry = row<u32>(w, i.extra);
  u32 out = *carry;
  for (int l = 0; l < 32; ++l) {
    if (!(w.mask >> l & 1)) continue;
    const T product = static_cast<T>(high ? (W(a[l]) * b[l]) >> (sizeof(T) * 8) : W(a[l]) * b[l]);
    const W sum = W(product) + c[l] + (take ? *carry >> l & 1 : 0);
    d[l] = static_cast<T>(sum);
    if (give) out = (out & ~(1u << l)) | static_cast<u32>(sum >> (sizeof(T) * 8)) << l;
  }
  *carry = out;
}

template <class T>
void carry_rows(const Adder& add, const std::string& t, char w) {
  const std::string shape(3, w), four(4, w);
  add.whole("add.cc." + t, shape + "c", &with_carry<T, false, false, true>);
  add.whole("addc." + t, shape + "c", &with_carry<T, false, true, false>);
  add.whole("addc.cc." + t, shape + "c", &with_carry<T, false, true, true>);
  add.whole("sub.cc." + t, shape + "c", &with_carry<T, true, false, true>);
  add.whole("subc." + t, shape + "c", &with_carry<T, true, true, false>);
  add.whole("subc.cc." + t, shape + "c", &with_carry<T, true, true, true>);
  add.whole("mad.lo.cc." + t, four + "c", &multiply_with_carry<T, false, false, true>);
  add.whole("madc.lo." + t, four + "c", &multiply_with_carry<T, false, true, false>);
  add.whole("madc.lo.cc." + t, four + "c", &multiply_with_carry<T, false, true, true>);
  add.whole("mad.hi.cc." + t, four + "c", &multiply_with_carry<T, true, false, true>);
  add.whole("madc.hi." + t, four + "c", &multiply_with_carry<T, true, true, false>);
  add.whole("madc.hi.cc." + t, four + "c", &multiply_with_carry<T, true, true, true>);
}

void bit_rows(const Adder& add) {
  field_rows<u32>(add, "u32"), field_rows<s32>(add, "s32"), field_rows<u64>(add, "u64"), field_rows<s64>(add, "s64");
  add.whole("bfi.b32", "44444", &insert_bits<u32>);
  add.whole("bfi.b64", "88844", &insert_bits<u64>);
  add("popc.b32", [](u32 a) -> u32 { return static_cast<u32>(std::popcount(a)); });
  add("popc.b64", [](u64 a) -> u32 { return static_cast<u32>(std::popcount(a)); });
  add("clz.b32", [](u32 a) -> u32 { return static_cast<u32>(std::countl_zero(a)); });
  add("clz.b64", [](u64 a) -> u32 { return static_cast<u32>(std::countl_zero(a)); });
  add("brev.b32", [](u32 a) -> u32 { return reverse_bits(a); });
  add("brev.b64", [](u64 a) -> u64 { return static_cast<u64>(reverse_bits(static_cast<u32>(a))) << 32 | reverse_bits(static_cast<u32>(a >> 32)); });
  add("fns.b32", [](u32 a, u32 b, u32 c) -> u32 { return nth_set_bit(a, b, c); });
  add("bmsk.clamp.b32", [](u32 a, u32 b) -> u32 { return a >= 32 || b == 0 ? 0 : (b >= 32 ? ~0u : (1u << b) - 1) << a; });
  add("bmsk.wrap.b32", [](u32 a, u32 b) -> u32 { return (b & 31) == 0 ? 0 : ((1u << (b & 31)) - 1) << (a & 31); });
  add("szext.clamp.u32", [](u32 a, u32 b) -> u32 { return b == 0 ? 0 : b >= 32 ? a : a & ((1u << b) - 1); });
  add("szext.clamp.s32", [](u32 a, u32 b) -> u32 { return b == 0 ? 0 : b >= 32 ? a : static_cast<u32>(static_cast<s32>(a << (32 - b)) >> (32 - b)); });
  add("szext.wrap.u32", [](u32 a, u32 b) -> u32 { return (b & 31) == 0 ? 0 : a & ((1u << (b & 31)) - 1); });
  add("szext.wrap.s32", [](u32 a, u32 b) -> u32 { return (b & 31) == 0 ? 0 : static_cast<u32>(static_cast<s32>(a << (32 - (b & 31))) >> (32 - (b & 31))); });
  add("prmt.b32", [](u32 a, u32 b, u32 c) -> u32 { return pick_bytes(a, b, c); });
  add("prmt.b32.f4e", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, forward4); });
  add("prmt.b32.b4e", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, backward4); });
  add("prmt.b32.rc8", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, replicate8); });
  add("prmt.b32.ecl", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, edge_left); });
  add("prmt.b32.ecr", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, edge_right); });
  add("prmt.b32.rc16", [](u32 a, u32 b, u32 c) -> u32 { return pick_mode(a, b, c, replicate16); });
  add.whole("lop3.b32", "44444", &logic3);
  add("shf.l.wrap.b32", [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (32 - (c & 31))); });
  add("shf.r.wrap.b32", [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (c & 31)); });
  add("shf.l.clamp.b32", [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (32 - (c > 32 ? 32 : c))); });
  add("shf.r.clamp.b32", [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (c > 32 ? 32 : c)); });
  add("dp4a.s32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<s8, s8>(a, b, c); });
  add("dp4a.s32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<s8, u8>(a, b, c); });
  add("dp4a.u32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<u8, s8>(a, b, c); });
  add("dp4a.u32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot4<u8, u8>(a, b, c); });
  add("dp2a.lo.s32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, s8, 0>(a, b, c); });
  add("dp2a.lo.s32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, u8, 0>(a, b, c); });
  add("dp2a.lo.u32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<u16, s8, 0>(a, b, c); });
  add("dp2a.lo.u32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<u16, u8, 0>(a, b, c); });
  add("dp2a.hi.s32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, s8, 1>(a, b, c); });
  add("dp2a.hi.s32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<s16, u8, 1>(a, b, c); });
  add("dp2a.hi.u32.s32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<u16, s8, 1>(a, b, c); });
  add("dp2a.hi.u32.u32", [](u32 a, u32 b, u32 c) -> u32 { return dot2<u16, u8, 1>(a, b, c); });
}

void integer_rows(Operations& table) {
  const Adder add{table};
  arithmetic_rows<u32, u16, s16>(add, "s16", "u16", "b16");
  arithmetic_rows<u32, u32, s32>(add, "s32", "u32", "b32");
  arithmetic_rows<u64, u64, s64>(add, "s64", "u64", "b64");
  high_and_wide_rows<u16, u32>(add, "u16"), high_and_wide_rows<s16, s32>(add, "s16");
  high_and_wide_rows<u32, u64>(add, "u32"), high_and_wide_rows<s32, s64>(add, "s32");
  __extension__ using s128 = __int128;
  __extension__ using u128 = unsigned __int128;
  high_and_wide_rows<u64, u128>(add, "u64"), high_and_wide_rows<s64, s128>(add, "s64");
  division_rows<u16>(add, "u16"), division_rows<s16>(add, "s16"), division_rows<u32>(add, "u32");
  division_rows<s32>(add, "s32"), division_rows<u64>(add, "u64"), division_rows<s64>(add, "s64");
  bit_rows(add);
  carry_rows<u32>(add, "u32", '4'), carry_rows<u32>(add, "s32", '4'), carry_rows<u64>(add, "u64", '8'), carry_rows<u64>(add, "s64", '8');
  pair_rows<u16>(add, "u16x2"), pair_rows<s16>(add, "s16x2");
  add("add.sat.s32", [](s32 a, s32 b) -> s32 { return saturated<s32>(s64{a} + b); });
  add("sub.sat.s32", [](s32 a, s32 b) -> s32 { return saturated<s32>(s64{a} - b); });
  add("mad.hi.sat.s32", [](s32 a, s32 b, s32 c) -> s32 { return saturated<s32>((s64{a} * b >> 32) + c); });
  add("min.relu.s32", [](s32 a, s32 b) -> s32 { return std::max(0, std::min(a, b)); });
  add("max.relu.s32", [](s32 a, s32 b) -> s32 { return std::max(0, std::max(a, b)); });
  add("mul24.lo.u32", [](u32 a, u32 b) -> u32 { return static_cast<u32>(u64{a & 0xffffffu} * (b & 0xffffffu)); });
  add("mul24.lo.s32", [](s32 a, s32 b) -> u32 { return static_cast<u32>(s64{static_cast<s32>(static_cast<u32>(a) << 8) >> 8} * (static_cast<s32>(static_cast<u32>(b) << 8) >> 8)); });
  add("mad24.lo.u32", [](u32 a, u32 b, u32 c) -> u32 { return static_cast<u32>(u64{a & 0xffffffu} * (b & 0xffffffu)) + c; });
  add("mad24.lo.s32", [](s32 a, s32 b, u32 c) -> u32 { return static_cast<u32>(s64{static_cast<s32>(static_cast<u32>(a) << 8) >> 8} * (static_cast<s32>(static_cast<u32>(b) << 8) >> 8)) + c; });
}

}  // namespace
}  // namespace cudal1::sim
