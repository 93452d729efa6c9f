// SPDX-License-Identifier: Apache-2.0
#include "sim/meant.hpp"

#include "sim/shadow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace cudal1::sim {

namespace {

#define CUDAL1_OF_ONE(name) {#name, 1, [](double x, double) { return std::name(x); }}
constexpr MeantFunction functions[] = {
    CUDAL1_OF_ONE(exp),   CUDAL1_OF_ONE(exp2),  CUDAL1_OF_ONE(expm1), CUDAL1_OF_ONE(log),   CUDAL1_OF_ONE(log2),  CUDAL1_OF_ONE(log10),
    CUDAL1_OF_ONE(log1p), CUDAL1_OF_ONE(sin),   CUDAL1_OF_ONE(cos),   CUDAL1_OF_ONE(tan),   CUDAL1_OF_ONE(asin),  CUDAL1_OF_ONE(acos),
    CUDAL1_OF_ONE(atan),  CUDAL1_OF_ONE(sinh),  CUDAL1_OF_ONE(cosh),  CUDAL1_OF_ONE(tanh),  CUDAL1_OF_ONE(asinh), CUDAL1_OF_ONE(acosh),
    CUDAL1_OF_ONE(atanh), CUDAL1_OF_ONE(erf),   CUDAL1_OF_ONE(erfc),  CUDAL1_OF_ONE(cbrt),  CUDAL1_OF_ONE(tgamma),
    // std::lgamma writes a variable that all threads share.
    {"lgamma", 1, [](double x, double) { int sign = 0; return ::lgamma_r(x, &sign); }},
    {"exp10", 1, [](double x, double) { return std::pow(10.0, x); }},
    {"pow", 2, [](double x, double y) { return std::pow(x, y); }},
    {"atan2", 2, [](double x, double y) { return std::atan2(x, y); }},
};
#undef CUDAL1_OF_ONE

template <class T>
void copy(Warp& w, const Instruction& i) {
  T* d = row<T>(w, i.d);
  const T* a = row<const T>(w, i.a);
  for (std::uint32_t rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    d[lane] = a[lane];
  }
}

// The shadow of one lane of a float or double; the value where it has none.
template <class T>
double shadow_of(const Warp& w, std::uint32_t offset, ShadowMode mode, int lane) {
  const T value = row<const T>(w, offset)[lane];
  const Planes p = planes(w, offset);
  bool known = false;
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    known = p.tags[lane] == static_cast<std::uint32_t>(bits) && p.tags[64 + lane] == static_cast<std::uint32_t>(bits >> 32) && p.values[lane] == p.values[64 + lane];
  } else {
    known = p.tags[lane] == std::bit_cast<std::uint32_t>(value);
  }
  return known ? p.values[lane] : leaf(mode, static_cast<double>(value));
}

template <class T>
void keep_shadow(const Warp& w, std::uint32_t offset, int lane, double shadow) {
  const T value = row<const T>(w, offset)[lane];
  const Planes p = planes(w, offset);
  const bool finite = std::isfinite(shadow) && std::isfinite(static_cast<double>(value));
  p.values[lane] = finite ? shadow : static_cast<double>(value);
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    p.values[64 + lane] = p.values[lane];
    p.tags[lane] = static_cast<std::uint32_t>(bits), p.tags[64 + lane] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    p.tags[lane] = std::bit_cast<std::uint32_t>(value);
  }
}

// Of doubles a shadow is no nearer to the truth than the value, unless the value was a float's before.
template <class T>
bool is_nearer(double shadow, T value) {
  if constexpr (sizeof(T) == 4) return true;
  return static_cast<double>(static_cast<float>(value)) == value && (shadow == value || std::fabs(shadow - value) > 0x1p-40 * std::fabs(value));
}

// Without rounding it is the function of the operand's shadow. A run that rounds at random keeps what the library's own instructions
// gave, and a function of a float has as many terms as its operand.
template <class T>
void give_shadow(Warp& w, const Instruction& i, const Shadowed& s) {
  const ShadowMode mode = w.worker->launch->shadow_mode;
  double result[32];
  const std::uint32_t mask = w.mask;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    double& r = result[lane];
    if (s.part == meant_literal) {
      r = mode == ShadowMode::exact ? row<const double>(w, i.b)[lane] : leaf(mode, static_cast<double>(row<const T>(w, i.a)[lane]));
    } else if (mode == ShadowMode::disturbed || (mode == ShadowMode::terms && sizeof(T) == 8)) {
      r = shadow_of<T>(w, i.a, mode, lane);
    } else {
      const double x = shadow_of<T>(w, i.b, mode, lane), y = s.operands > 1 ? shadow_of<T>(w, i.c, mode, lane) : 0;
      const bool known = is_nearer(x, row<const T>(w, i.b)[lane]);
      r = mode == ShadowMode::terms ? std::max(x, y) : known ? functions[s.part].of(x, y) : shadow_of<T>(w, i.a, mode, lane);
    }
  }
  run_real(w, i, s);
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) keep_shadow<T>(w, i.d, std::countr_zero(rest), result[std::countr_zero(rest)]);
}

}  // namespace

std::span<const MeantFunction> meant_functions() { return functions; }

void add_meant_operations(Operations& table) {
  for (const MeantFunction& function : functions) {
    table[std::string("meant.") + function.name + ".f32"] = {function.operands == 1 ? "444" : "4444", &copy<float>, &copy<float>};
    table[std::string("meant.") + function.name + ".f64"] = {function.operands == 1 ? "888" : "8888", &copy<double>, &copy<double>};
  }
  table["meant.literal.f32"] = {"448", &copy<float>, &copy<float>};
}

void shadow_meant(Warp& warp, const Instruction& instruction) {
  const Shadowed& s = shadowed_of(warp, instruction);
  if (s.type == Element::f64) give_shadow<double>(warp, instruction, s);
  else give_shadow<float>(warp, instruction, s);
}

}  // namespace cudal1::sim
