// SPDX-License-Identifier: Apache-2.0
// Moves, selection, predicates, packing, and conversions between integers.
#pragma once

#include "sim/elementwise.ipp"

#include <algorithm>
#include <limits>

namespace cudal1::sim {
namespace {

template <class D, class A>
D clamp_to(A a) {
  if constexpr (std::is_signed_v<A> && std::is_unsigned_v<D>) {
    if (a < 0) return 0;
    return static_cast<std::make_unsigned_t<A>>(a) > std::numeric_limits<D>::max() ? std::numeric_limits<D>::max() : static_cast<D>(a);
  } else if constexpr (std::is_unsigned_v<A> && std::is_signed_v<D>) {
    return a > static_cast<std::make_unsigned_t<D>>(std::numeric_limits<D>::max()) ? std::numeric_limits<D>::max() : static_cast<D>(a);
  } else {
    if (a > std::numeric_limits<D>::max()) return std::numeric_limits<D>::max();
    if (a < std::numeric_limits<D>::min()) return std::numeric_limits<D>::min();
    return static_cast<D>(a);
  }
}

template <class D, class A>
void integer_conversion(const Adder& add, const std::string& d, const std::string& a) {
  add("cvt." + d + "." + a, [](A v) -> D { return static_cast<D>(v); });
  add("cvt.sat." + d + "." + a, [](A v) -> D { return clamp_to<D, A>(v); });
}
template <class D>
void integer_conversions(const Adder& add, const std::string& d) {
  integer_conversion<D, u8>(add, d, "u8"), integer_conversion<D, s8>(add, d, "s8");
  integer_conversion<D, u16>(add, d, "u16"), integer_conversion<D, s16>(add, d, "s16");
  integer_conversion<D, u32>(add, d, "u32"), integer_conversion<D, s32>(add, d, "s32");
  integer_conversion<D, u64>(add, d, "u64"), integer_conversion<D, s64>(add, d, "s64");
}

// Logic on predicates works on whole masks.
template <class F>
void on_masks(Warp& w, const Instruction& i) {
  u32* d = row<u32>(w, i.d);
  const u32 v = F{}(*row<const u32>(w, i.a), *row<const u32>(w, i.b));
  *d = (*d & ~w.mask) | (v & w.mask);
}
template <class F>
void mask_row(const Adder& add, const std::string& name, F, bool one = false) {
  add.whole(name, one ? "pp" : "ppp", &on_masks<F>);
}

void guard_on(Warp& w, const Instruction& i) {
  w.saved_mask = w.mask;
  const u32 p = *row<const u32>(w, i.a);
  set_mask(w, w.mask & (i.extra ? ~p : p));
}
void guard_off(Warp& w, const Instruction&) { set_mask(w, w.saved_mask); }

template <class T>
void move_rows(const Adder& add, std::initializer_list<const char*> types) {
  for (const std::string t : types) {
    add("mov." + t, [](T a) -> T { return a; });
    add("selp." + t, [](T a, T b, bool p) -> T { return p ? a : b; });
    add("slct." + t + ".s32", [](T a, T b, s32 c) -> T { return c >= 0 ? a : b; });
    add("slct." + t + ".f32", [](T a, T b, float c) -> T { return c >= 0 ? a : b; });
    add("slct.ftz." + t + ".f32", [](T a, T b, float c) -> T { return c >= 0 || std::fabs(c) < 1.17549435e-38f ? a : b; });
  }
}

void move_rows(Operations& table) {
  const Adder add{table};
  move_rows<u16>(add, {"b16", "u16", "s16", "f16", "bf16"});
  move_rows<u32>(add, {"b32", "u32", "s32", "f32", "f16x2", "bf16x2"});
  move_rows<u64>(add, {"b64", "u64", "s64", "f64"});
  add("mov.b128", [](Quad a) -> Quad { return a; });
  mask_row(add, "mov.pred", [](u32 a, u32) { return a; }, true);
  mask_row(add, "not.pred", [](u32 a, u32) { return ~a; }, true);
  mask_row(add, "and.pred", [](u32 a, u32 b) { return a & b; });
  mask_row(add, "or.pred", [](u32 a, u32 b) { return a | b; });
  mask_row(add, "xor.pred", [](u32 a, u32 b) { return a ^ b; });
  add.whole("_guard_on", "p", &guard_on);
  add.whole("_guard_off", "", &guard_off);

  integer_conversions<u8>(add, "u8"), integer_conversions<s8>(add, "s8");
  integer_conversions<u16>(add, "u16"), integer_conversions<s16>(add, "s16");
  integer_conversions<u32>(add, "u32"), integer_conversions<s32>(add, "s32");
  integer_conversions<u64>(add, "u64"), integer_conversions<s64>(add, "s64");

  add("_pack.4.2", [](u16 a, u16 b) -> u32 { return a | static_cast<u32>(b) << 16; });
  add("_pack.8.4", [](u32 a, u32 b) -> u64 { return a | static_cast<u64>(b) << 32; });
  add("_pack.2.1", [](u8 a, u8 b) -> u16 { return static_cast<u16>(a | b << 8); });
  add("_pack.q.8", [](u64 a, u64 b) -> Quad { return {a, b}; });
  add("_part.2.4.0", [](u32 a) -> u16 { return static_cast<u16>(a); });
  add("_part.2.4.1", [](u32 a) -> u16 { return static_cast<u16>(a >> 16); });
  add("_part.4.8.0", [](u64 a) -> u32 { return static_cast<u32>(a); });
  add("_part.4.8.1", [](u64 a) -> u32 { return static_cast<u32>(a >> 32); });
  add("_part.1.2.0", [](u16 a) -> u8 { return static_cast<u8>(a); });
  add("_part.1.2.1", [](u16 a) -> u8 { return static_cast<u8>(a >> 8); });
  add("_part.8.q.0", [](Quad a) -> u64 { return a.low; });
  add("_part.8.q.1", [](Quad a) -> u64 { return a.high; });
  for (int k = 0; k < 4; ++k) {
    const std::string n = std::to_string(k);
    if (k == 0) add("_part.2.8." + n, [](u64 a) -> u16 { return static_cast<u16>(a); }), add("_part.1.4." + n, [](u32 a) -> u8 { return static_cast<u8>(a); });
    if (k == 1) add("_part.2.8." + n, [](u64 a) -> u16 { return static_cast<u16>(a >> 16); }), add("_part.1.4." + n, [](u32 a) -> u8 { return static_cast<u8>(a >> 8); });
    if (k == 2) add("_part.2.8." + n, [](u64 a) -> u16 { return static_cast<u16>(a >> 32); }), add("_part.1.4." + n, [](u32 a) -> u8 { return static_cast<u8>(a >> 16); });
    if (k == 3) add("_part.2.8." + n, [](u64 a) -> u16 { return static_cast<u16>(a >> 48); }), add("_part.1.4." + n, [](u32 a) -> u8 { return static_cast<u8>(a >> 24); });
  }
  add("cvta.shared.u64", [](u64 a) -> u64 { return a + shared_window; });
  add("cvta.local.u64", [](u64 a) -> u64 { return a + local_window; });
  add("cvta.to.shared.u64", [](u64 a) -> u64 { return a - shared_window; });
  add("cvta.to.local.u64", [](u64 a) -> u64 { return a - local_window; });
  for (const char* name : {"cvta.global.u64", "cvta.const.u64", "cvta.param.u64", "cvta.to.global.u64", "cvta.to.const.u64", "cvta.to.param.u64"})
    add(std::string(name), [](u64 a) -> u64 { return a; });
  add("isspacep.shared::cluster", [](u64 a) -> bool { return a >= shared_window && a < shared_window + window_bytes; });
  add("isspacep.local", [](u64 a) -> bool { return a >= local_window && a < local_window + window_bytes; });
  add("isspacep.global", [](u64 a) -> bool { return a < shared_window; });
}

}  // namespace
}  // namespace cudal1::sim
