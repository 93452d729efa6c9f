// SPDX-License-Identifier: Apache-2.0
#include "tensor/distribution.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "tensor/generator.hpp"
#include "tensor/npy.hpp"
#include "tensor/safetensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

// One body, compiled for the machine's vector width too: the loop is integer arithmetic, so every clone gives the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CUDAL1_SANITIZED)
#define CUDAL1_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CUDAL1_WIDE
#endif

namespace cudal1::tensor {
namespace {

constexpr std::size_t chunk = 256;

// `chunk` consecutive Philox blocks, word by word.
struct Blocks {
  std::uint32_t x[chunk], y[chunk], z[chunk], w[chunk];
};

CUDAL1_WIDE void philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Blocks& blocks) {
  auto& [x, y, z, w] = blocks;
  // The chunk's counters share their upper word, because `first` is a multiple of the chunk.
  for (std::size_t i = 0; i < chunk; ++i) {
    x[i] = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(i);
    y[i] = static_cast<std::uint32_t>(first >> 32);
    z[i] = static_cast<std::uint32_t>(stream);
    w[i] = static_cast<std::uint32_t>(stream >> 32);
  }
  std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U)
    for (std::size_t i = 0; i < chunk; ++i) {
      const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * x[i], product1 = std::uint64_t{0xCD9E8D57U} * z[i];
      x[i] = static_cast<std::uint32_t>(product1 >> 32) ^ y[i] ^ key0;
      y[i] = static_cast<std::uint32_t>(product1);
      z[i] = static_cast<std::uint32_t>(product0 >> 32) ^ w[i] ^ key1;
      w[i] = static_cast<std::uint32_t>(product0);
    }
}

CUDAL1_WIDE void normals(const Blocks& blocks, int* out) {
  for (std::size_t i = 0; i < chunk; ++i)
    out[i] = generator::normal_units_of({blocks.x[i], blocks.y[i], blocks.z[i], blocks.w[i]});
}

void fill_normal(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream, std::size_t count, std::byte* out) {
  Blocks blocks;
  int units[chunk];
  const std::size_t size = size_of(dtype);
  for (std::size_t first = 0; first < count; first += chunk) {
    philox(seed, stream, first, blocks);
    normals(blocks, units);
    const std::size_t n = std::min(chunk, count - first);
    const bool standard = distribution.low == 0 && distribution.high == 1;
    if (dtype == Dtype::float32 && standard) {
      float values[chunk];
      for (std::size_t i = 0; i < chunk; ++i) values[i] = static_cast<float>(units[i]) * static_cast<float>(generator::normal_unit);
      std::memcpy(out + first * size, values, n * size);
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double drawn = units[i] * generator::normal_unit;
      const std::uint64_t bits = generator::encode(static_cast<int>(dtype), standard ? drawn : distribution.low + distribution.high * drawn);
      std::memcpy(out + (first + i) * size, &bits, size);
    }
  }
}

void fill_uniform(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream,
                  std::size_t count, std::byte* out) {
  Blocks blocks;
  const std::size_t size = size_of(dtype);
  for (std::size_t first = 0; first < count; first += 2 * chunk) {
    philox(seed, stream, first / 2, blocks);
    const std::size_t n = std::min(2 * chunk, count - first);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t block = i / 2;
      const std::uint64_t low = i % 2 != 0 ? blocks.z[block] : blocks.x[block];
      const std::uint64_t high = i % 2 != 0 ? blocks.w[block] : blocks.y[block];
      const std::uint64_t bits = generator::element_of(static_cast<int>(dtype), static_cast<int>(distribution.kind),
                                                       high << 32 | low, distribution.low, distribution.high);
      std::memcpy(out + (first + i) * size, &bits, size);
    }
  }
}

// In [0, 1), for element `index`.
double unit_of(std::uint64_t seed, std::uint64_t stream, std::size_t index) {
  return static_cast<double>(generator::uniform_bits(seed, stream, index) >> 11) * 0x1p-53;
}

// What follows from an element's place: `sorted` draws one value from each of `count` equal parts of its range, `offsets`
// runs from 0 to the total as the row pointers of a sparse matrix do, and a permutation is shuffled.
void fill_in_order(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream, std::size_t count, std::byte* out) {
  using Kind = Distribution::Kind;
  const std::size_t size = size_of(dtype);
  const auto put = [&](std::size_t i, double value) {
    const std::uint64_t bits = is_floating(dtype) ? generator::encode(static_cast<int>(dtype), value)
                                                  : generator::encode_integer(static_cast<int>(dtype), static_cast<long long>(std::floor(value)));
    std::memcpy(out + i * size, &bits, size);
  };
  if (distribution.kind == Kind::permutation) {
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < count; ++i) places[i] = i;
    for (std::size_t i = count; i > 1; --i)
      std::swap(places[i - 1], places[static_cast<std::size_t>(generator::randint(generator::uniform_bits(seed, stream, i), 0, static_cast<long long>(i)))]);
    for (std::size_t i = 0; i < count; ++i) put(i, static_cast<double>(places[i]));
    return;
  }
  const double low = distribution.low, width = distribution.high - distribution.low;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<double>(i);
    if (distribution.kind == Kind::constant) put(i, low);
    else if (distribution.kind == Kind::sorted) put(i, low + width * (place + unit_of(seed, stream, i)) / static_cast<double>(count));
    else if (i == 0) put(i, 0);
    else if (i + 1 == count) put(i, low);
    else put(i, std::floor(low * (place - 0.5 + unit_of(seed, stream, i)) / static_cast<double>(count - 1)));
  }
}

// "x.npy", or one tensor of "x.safetensors#name".
void fill_from_file(Dtype dtype, const std::filesystem::path& named, std::size_t count, std::byte* out) {
  constexpr std::string_view container = ".safetensors#";
  const std::string name_and_key = named.string();
  const std::size_t hash = name_and_key.find(container);
  const std::filesystem::path path = hash == std::string::npos ? named : std::filesystem::path(name_and_key.substr(0, hash + container.size() - 1));
  const std::string bytes = base::read_file(path, std::size_t{16} << 30);
  const auto array = hash == std::string::npos ? read_npy(bytes) : read_safetensors(bytes, name_and_key.substr(hash + container.size()));
  const auto refuse = [&](const std::string& why) {
    throw base::Error(base::Fault::bad_task, fmt::format("{}: {}", path.string(), why));
  };
  if (!array) refuse(array.error());
  if (array->dtype != dtype && !(dtype == Dtype::bfloat16 && array->dtype == Dtype::float32))
    refuse(fmt::format("it holds {}, but the input is {}; save it with .astype(\"{}\")", name(array->dtype), name(dtype), name(dtype)));
  const std::size_t elements = array->data.size() / size_of(array->dtype);
  if (elements != count) refuse(fmt::format("it holds {} elements, but the input has {}", elements, count));
  if (array->dtype == dtype) {
    if (count > 0) std::memcpy(out, array->data.data(), array->data.size());
    return;
  }
  // numpy has no bfloat16, so such an input is saved as float32.
  for (std::size_t i = 0; i < count; ++i)
    store(dtype, load(array->dtype, reinterpret_cast<const std::byte*>(array->data.data()) + 4 * i), out + 2 * i);
}

}  // namespace

void fill(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream, std::size_t count,
          std::byte* out, const std::filesystem::path& folder) {
  using Kind = Distribution::Kind;
  switch (distribution.kind) {
    case Kind::file: return fill_from_file(dtype, folder / distribution.path, count, out);
    case Kind::normal: return fill_normal(dtype, distribution, seed, stream, count, out);
    case Kind::uniform:
    case Kind::randint: return fill_uniform(dtype, distribution, seed, stream, count, out);
    case Kind::constant:
    case Kind::sorted:
    case Kind::permutation:
    case Kind::offsets: return fill_in_order(dtype, distribution, seed, stream, count, out);
    default: break;
  }
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = generator::element(static_cast<int>(dtype), static_cast<int>(distribution.kind), seed,
                                                  stream, i, distribution.low, distribution.high);
    std::memcpy(out + i * size, &bits, size);
  }
}

}  // namespace cudal1::tensor
