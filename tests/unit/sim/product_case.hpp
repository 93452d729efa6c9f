// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_device.hpp"

#include "base/random.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cudal1::sim::test {

// wgmma.mma_async on random tiles: one kernel of tests/ptx/hopper/products.cu, some tiles of each kind of numbers.
struct ProductCase {
  std::string kernel;   // "f16_shared_64"
  std::string type;     // "f16"
  std::size_t columns;
};
inline const std::vector<ProductCase>& product_cases() {
  static const std::vector<ProductCase> cases{
      {"f16_shared_8", "f16", 8},       {"f16_shared_64", "f16", 64},       {"f16_shared_256", "f16", 256},      {"f16_registers_128", "f16", 128},
      {"bf16_shared_96", "bf16", 96},   {"bf16_shared_192", "bf16", 192},   {"bf16_registers_64", "bf16", 64},   {"tf32_shared_16", "tf32", 16},
      {"tf32_shared_32", "tf32", 32},   {"tf32_shared_128", "tf32", 128},   {"tf32_registers_256", "tf32", 256},
  };
  return cases;
}

struct ProductTiles {
  std::vector<std::uint32_t> a, b;   // 8 words a row: 16 elements of 16 bits, or 8 floats
  std::vector<float> c;
};

// Kinds of numbers, tile after tile: like one another, of very different size, all bits (infinities and NaN too), mostly zero,
// close to the type's smallest, of one sign.
inline ProductTiles product_tiles(const ProductCase& one, std::size_t tiles, std::uint64_t seed) {
  base::Random random(seed);
  const bool wide = one.type == "tf32";
  const auto bits_of = [&](float v) -> std::uint32_t {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
    if (wide) return bits;
    if (one.type == "bf16") return bits >> 16;
    const int exponent = static_cast<int>(bits >> 23 & 255) - 127;  // cut, not rounded: any half will do
    const std::uint32_t sign = bits >> 16 & 0x8000, fraction = bits >> 13 & 0x3ff;
    if (exponent > 15) return sign | 0x7bff;
    if (exponent < -24) return sign;
    if (exponent < -14) return sign | (0x400 | fraction) >> (-14 - exponent);
    return sign | static_cast<std::uint32_t>(exponent + 15) << 10 | fraction;
  };
  const auto draw = [&](std::size_t kind) -> float {
    const float v = static_cast<float>(random.uniform() * 2 - 1);
    switch (kind) {
      case 1: return std::ldexp(v, static_cast<int>(random.below(41)) - 20);
      case 2: return std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
      case 3: return random.below(4) == 0 ? std::ldexp(v, static_cast<int>(random.below(25)) - 12) : 0;
      case 4: return std::ldexp(v, one.type == "f16" ? -static_cast<int>(random.below(14)) - 10 : -static_cast<int>(random.below(80)) - 40);
      case 5: return std::fabs(v);
      default: return v;
    }
  };
  ProductTiles made;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t kind = tile % 6;
    const auto fill = [&](std::vector<std::uint32_t>& into, std::size_t words) {
      for (std::size_t k = 0; k < words; ++k) {
        if (kind == 2) into.push_back(static_cast<std::uint32_t>(random.next()));
        else if (wide) into.push_back(bits_of(draw(kind)));
        else into.push_back(bits_of(draw(kind)) | bits_of(draw(kind)) << 16);
      }
    };
    fill(made.a, 64 * 8);
    fill(made.b, one.columns * 8);
    for (std::size_t k = 0; k < 64 * one.columns; ++k) made.c.push_back(tile % 12 < 6 ? 0.0f : draw(kind));
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
