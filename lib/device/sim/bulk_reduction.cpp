// SPDX-License-Identifier: Apache-2.0
#include "sim/bulk_reduction.hpp"

#include "sim/small_float.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace cudal1::sim {

namespace {

constexpr std::string_view reduction_names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

bool is_bits(BulkReduction operation) { return operation >= BulkReduction::bit_and; }

template <class T, class F>
void each_pair(std::byte* into, const std::byte* from, std::size_t bytes, F f) {
  for (std::size_t k = 0; k + sizeof(T) <= bytes; k += sizeof(T)) {
    T a, b;
    std::memcpy(&a, into + k, sizeof a), std::memcpy(&b, from + k, sizeof b);
    const T result = f(a, b);
    std::memcpy(into + k, &result, sizeof result);
  }
}

template <class T>
T whole_number(BulkReduction operation, T a, T b) {
  switch (operation) {
    case BulkReduction::add: return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    case BulkReduction::min: return std::min(a, b);
    case BulkReduction::max: return std::max(a, b);
    case BulkReduction::inc: return a >= b ? T{0} : static_cast<T>(a + 1);
    case BulkReduction::dec: return a == 0 || a > b ? b : static_cast<T>(a - 1);
    case BulkReduction::bit_and: return a & b;
    case BulkReduction::bit_or: return a | b;
    case BulkReduction::bit_xor: return a ^ b;
  }
  return a;
}

template <class T>
void whole_numbers(BulkReduction operation, std::byte* into, const std::byte* from, std::size_t bytes) {
  each_pair<T>(into, from, bytes, [&](T a, T b) { return whole_number(operation, a, b); });
}

double real_number(BulkReduction operation, double a, double b) {
  return operation == BulkReduction::min ? std::fmin(a, b) : operation == BulkReduction::max ? std::fmax(a, b) : a + b;
}

// As atomic operations in global memory: sums of floats flush denormals.
float without_denormals(float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; }

}  // namespace

std::optional<BulkReduction> parse_bulk_reduction(std::string_view name) {
  const auto* found = std::find(std::begin(reduction_names), std::end(reduction_names), name);
  if (found == std::end(reduction_names)) return std::nullopt;
  return static_cast<BulkReduction>(found - std::begin(reduction_names));
}

bool has_bulk_reduction(BulkReduction operation, Element element) {
  using enum Element;
  if (is_bits(operation)) return element == b32 || element == b64;
  if (operation == BulkReduction::inc || operation == BulkReduction::dec) return element == u32;
  if (element == u32 || element == s32 || element == u64 || element == f16 || element == bf16) return true;
  return operation == BulkReduction::add ? element == f32 || element == f64 : element == s64;
}

void bulk_reduce(BulkReduction operation, Element element, std::byte* into, const std::byte* from, std::size_t bytes) {
  switch (element) {
    case Element::b32:
    case Element::u32: return whole_numbers<std::uint32_t>(operation, into, from, bytes);
    case Element::s32: return whole_numbers<std::int32_t>(operation, into, from, bytes);
    case Element::b64:
    case Element::u64: return whole_numbers<std::uint64_t>(operation, into, from, bytes);
    case Element::s64: return whole_numbers<std::int64_t>(operation, into, from, bytes);
    case Element::f32: return each_pair<float>(into, from, bytes, [](float a, float b) { return without_denormals(without_denormals(a) + without_denormals(b)); });
    case Element::f64: return each_pair<double>(into, from, bytes, [](double a, double b) { return a + b; });
    case Element::f16:
      return each_pair<Half>(into, from, bytes, [&](Half a, Half b) { return to_half(static_cast<float>(real_number(operation, to_float(a), to_float(b)))); });
    default:
      return each_pair<Bfloat>(into, from, bytes, [&](Bfloat a, Bfloat b) { return to_bfloat(static_cast<float>(real_number(operation, to_float(a), to_float(b)))); });
  }
}

}  // namespace cudal1::sim
