// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.hpp"

#include "tensor/generator.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace cudal1::tensor {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name, cuda_name;
  std::size_t size;
  double unit_roundoff;
};
constexpr std::array<Row, 10> rows = {{
    {Dtype::float64, "float64", "double", 8, 0x1p-53},
    {Dtype::float32, "float32", "float", 4, 0x1p-24},
    {Dtype::float16, "float16", "__half", 2, 0x1p-11},
    {Dtype::bfloat16, "bfloat16", "__nv_bfloat16", 2, 0x1p-8},
    {Dtype::int64, "int64", "long long", 8, 0},
    {Dtype::int32, "int32", "int", 4, 0},
    {Dtype::int16, "int16", "short", 2, 0},
    {Dtype::int8, "int8", "signed char", 1, 0},
    {Dtype::uint8, "uint8", "unsigned char", 1, 0},
    {Dtype::bool_, "bool", "bool", 1, 0},
}};

const Row& row(Dtype dtype) { return rows[static_cast<std::size_t>(dtype)]; }

// The inverse of generator::narrow_bits.
double widen(std::uint16_t bits, int fraction, int exponent) {
  const int power = bits >> fraction & ((1 << exponent) - 1), bias = (1 << (exponent - 1)) - 1;
  const int significand = bits & ((1 << fraction) - 1);
  double value = 0;
  if (power == (1 << exponent) - 1)
    value = significand != 0 ? std::nan("") : INFINITY;
  else if (power == 0)
    value = std::ldexp(significand, 1 - bias - fraction);
  else
    value = std::ldexp(significand + (1 << fraction), power - bias - fraction);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T read(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

// C leaves the conversion of a real outside the integer's range undefined; here it wraps modulo 2^64, and what is no
// number becomes the smallest integer, as on x86.
std::int64_t to_integer(double value) {
  if (!std::isfinite(value)) return INT64_MIN;
  value = std::trunc(value);
  if (value >= -0x1p63 && value < 0x1p63) return static_cast<std::int64_t>(value);
  double wrapped = std::fmod(value, 0x1p64);
  if (wrapped < 0) wrapped += 0x1p64;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(wrapped < 0x1p64 ? wrapped : 0));
}

}  // namespace

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const Row& each : rows)
    if (each.name == name) return each.dtype;
  return std::nullopt;
}

std::string_view name(Dtype dtype) { return row(dtype).name; }
std::string_view cuda_name(Dtype dtype) { return row(dtype).cuda_name; }
std::size_t size_of(Dtype dtype) { return row(dtype).size; }
bool is_floating(Dtype dtype) { return dtype <= Dtype::bfloat16; }
double unit_roundoff(Dtype dtype) { return row(dtype).unit_roundoff; }

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Row& each : rows) names.emplace_back(each.name);
  return names;
}

void store(Dtype dtype, double value, std::byte* element) {
  // The device's own encoding serves; only integers out of range need the definition above.
  const std::uint64_t bits = is_floating(dtype) || dtype == Dtype::bool_
                                 ? generator::encode(static_cast<int>(dtype), value)
                                 : static_cast<std::uint64_t>(to_integer(value));
  std::memcpy(element, &bits, size_of(dtype));
}

double load(Dtype dtype, const std::byte* element) {
  switch (dtype) {
    case Dtype::float64: return read<double>(element);
    case Dtype::float32: return static_cast<double>(read<float>(element));
    case Dtype::float16: return widen(read<std::uint16_t>(element), 10, 5);
    case Dtype::bfloat16: return widen(read<std::uint16_t>(element), 7, 8);
    case Dtype::int64: return static_cast<double>(read<std::int64_t>(element));
    case Dtype::int32: return read<std::int32_t>(element);
    case Dtype::int16: return read<std::int16_t>(element);
    case Dtype::int8: return read<std::int8_t>(element);
    case Dtype::uint8: return read<std::uint8_t>(element);
    case Dtype::bool_: return read<std::uint8_t>(element) != 0 ? 1 : 0;
  }
  return 0;
}

}  // namespace cudal1::tensor
