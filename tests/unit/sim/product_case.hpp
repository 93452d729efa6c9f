// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_device.hpp"

#include "base/random.hpp"
#include "sim/small_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cudal1::sim::test {

// wgmma.mma_async on random tiles: one kernel of tests/ptx/hopper/products.cu or of product_kernel.hpp, some tiles of each kind of numbers.
struct ProductCase {
  std::string kernel;   // "f16_shared_64"
  std::string type;     // "f16", of A's elements, and of B's unless `other` says more
  std::size_t columns;
  std::string other = "";
  bool registers = false, half_result = false;   // A in registers; sums in halves
  const std::string& type_b() const { return other.empty() ? type : other; }
  std::size_t depth() const { return type == "tf32" ? 8 : type == "f16" || type == "bf16" ? 16 : 32; }
};
inline const std::vector<ProductCase>& product_cases() {
  static const std::vector<ProductCase> cases{
      {"f16_shared_8", "f16", 8},       {"f16_shared_64", "f16", 64},       {"f16_shared_256", "f16", 256},      {"f16_registers_128", "f16", 128},
      {"bf16_shared_96", "bf16", 96},   {"bf16_shared_192", "bf16", 192},   {"bf16_registers_64", "bf16", 64},   {"tf32_shared_16", "tf32", 16},
      {"tf32_shared_32", "tf32", 32},   {"tf32_shared_128", "tf32", 128},   {"tf32_registers_256", "tf32", 256},
      {"e4m3_shared_32", "e4m3", 32},   {"e4m3_shared_128", "e4m3", 128},   {"e4m3_registers_64", "e4m3", 64},
  };
  return cases;
}

struct ProductTiles {
  std::vector<std::uint32_t> a, b;   // 8 words a row: 16 elements of 16 bits, 8 floats, or 32 bytes
  std::vector<float> c;
};

// A float as an element of that type, cut, not rounded: any element will do. The largest number stands for larger ones.
inline std::uint32_t product_element(const std::string& type, float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  if (type == "tf32") return bits;
  if (type == "bf16") return bits >> 16;
  const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
  if (type == "e4m3") {
    const std::uint32_t minus = bits >> 24 & 0x80, few = bits >> 20 & 7;
    if (exponent > 8) return minus | 0x7e;
    if (exponent < -9) return minus;
    if (exponent < -6) return minus | (8 | few) >> (-6 - exponent);
    return minus | std::min(static_cast<std::uint32_t>(exponent + 7) << 3 | few, std::uint32_t{0x7e});
  }
  const std::uint32_t sign = bits >> 16 & 0x8000, fraction = bits >> 13 & 0x3ff;
  std::uint32_t half = sign | static_cast<std::uint32_t>(exponent + 15) << 10 | fraction;
  if (exponent > 15) half = sign | 0x7bff;
  else if (exponent < -24) half = sign;
  else if (exponent < -14) half = sign | (0x400 | fraction) >> (-14 - exponent);
  return type == "e5m2" ? half >> 8 : half;
}

// The number that element `k` of a row is; of TF32 all bits count here, which wgmma cuts.
inline float product_value(const std::string& type, const std::vector<std::uint32_t>& words, std::size_t row, std::size_t k) {
  if (type == "tf32") return std::bit_cast<float>(words[row * 8 + k]);
  if (type == "f16") return to_float(Half{static_cast<std::uint16_t>(words[row * 8 + k / 2] >> (16 * (k % 2)))});
  if (type == "bf16") return to_float(Bfloat{static_cast<std::uint16_t>(words[row * 8 + k / 2] >> (16 * (k % 2)))});
  const auto byte = static_cast<std::uint8_t>(words[row * 8 + k / 4] >> (8 * (k % 4)));
  return type == "e4m3" ? e4m3_to_float(byte) : e5m2_to_float(byte);
}

// Kinds of numbers, tile after tile: like one another, of very different size, all bits (infinities and NaN too), mostly zero,
// close to the type's smallest, of one sign.
inline ProductTiles product_tiles(const ProductCase& one, std::size_t tiles, std::uint64_t seed) {
  base::Random random(seed);
  const auto draw = [&](std::size_t kind, const std::string& type) -> float {
    const float v = static_cast<float>(random.uniform() * 2 - 1);
    switch (kind) {
      case 1: return std::ldexp(v, static_cast<int>(random.below(41)) - 20);
      case 2: return std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
      case 3: return random.below(4) == 0 ? std::ldexp(v, static_cast<int>(random.below(25)) - 12) : 0;
      case 4:
        if (type == "e4m3") return std::ldexp(v, -static_cast<int>(random.below(9)));
        if (type == "f16" || type == "e5m2") return std::ldexp(v, -static_cast<int>(random.below(14)) - 10);
        return std::ldexp(v, -static_cast<int>(random.below(80)) - 40);
      case 5: return std::fabs(v);
      default: return v;
    }
  };
  ProductTiles made;
  made.a.reserve(tiles * 512), made.b.reserve(tiles * one.columns * 8), made.c.reserve(tiles * one.columns * 64);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t kind = tile % 6;
    const auto fill = [&](std::vector<std::uint32_t>& into, const std::string& type, std::size_t words) {
      const unsigned bits = type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
      for (std::size_t k = 0; k < words; ++k) {
        std::uint32_t word = kind == 2 ? static_cast<std::uint32_t>(random.next()) : 0;
        for (unsigned at = 0; at < 32 && kind != 2; at += bits) word |= product_element(type, draw(kind, type)) << at;
        into.push_back(word);
      }
    };
    fill(made.a, one.type, 64 * 8);
    fill(made.b, one.type_b(), one.columns * 8);
    for (std::size_t k = 0; k < 64 * one.columns; ++k) made.c.push_back(tile % 12 < 6 ? 0.0f : draw(kind, one.type));
  }
  return made;
}

inline std::vector<float> run_products(device::Device& device, const std::string& ptx, const ProductCase& one, const ProductTiles& tiles, std::size_t count,
                                       std::string& problem) {
  Bench bench(device);
  bench.load(ptx, "products.cu");
  bench.input(tiles.a, "a"), bench.input(tiles.b, "b"), bench.input(tiles.c, "c");
  const auto out = bench.output(tiles.c.size() * 4, "out");
  const auto result = bench.run(one.kernel, {static_cast<std::uint32_t>(count), 1, 1}, {128, 1, 1});
  if (result.status != device::RunResult::Status::ok) {
    problem = result.message;
    for (const auto& finding : result.findings) problem += "\n" + outcome::render(finding);
    return {};
  }
  return bench.read<float>(out);
}

}  // namespace cudal1::sim::test
