// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cudal1::tensor {

// How an input is filled: normal[(mean, deviation)] · uniform(lo, hi) · randint(lo, hi) · zeros · ones · arange ·
// file("x.npy") · constant(value) · sorted(lo, hi) · permutation · offsets(total).
struct Distribution {
  enum class Kind { normal, uniform, randint, zeros, ones, arange, file, constant, sorted, permutation, offsets };
  Kind kind = Kind::normal;
  // uniform, sorted: [low, high); randint: low <= value < high; normal: mean and deviation; constant, offsets: low
  double low = 0, high = 1;
  std::string path;              // file: relative to the kernel file
  std::string low_text, high_text;  // expressions of sizes in place of the numbers; empty: the numbers hold

  bool operator==(const Distribution&) const = default;
};

tl::expected<Distribution, std::string> parse_distribution(std::string_view text);  // error: one sentence
std::string to_string(const Distribution& distribution);
Distribution default_distribution(Dtype dtype);  // normal for floating types, randint(0, 2) for bool, randint(-8, 8) else

// Whether the numbers make sense, as they must once expressions have values. The error is one sentence.
tl::expected<void, std::string> valid_bounds(const Distribution& distribution);

// Fills `count` elements. The distribution has numbers, no expressions. Element i depends on (seed, stream, i) alone and is bit-equal on every device and in Python:
// Philox counters, and a normal as the scaled sum of twelve uniform integers, so that no rounding is left to chance.
// `folder` resolves a file's relative path. Throws base::Error(bad_input) when a file is missing or does not fit.
void fill(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream, std::size_t count,
          std::byte* out, const std::filesystem::path& folder = {});

}  // namespace cudal1::tensor
