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

// How an input is filled: normal · uniform(lo, hi) · randint(lo, hi) · zeros · ones · arange · file("x.npy").
struct Distribution {
  enum class Kind { normal, uniform, randint, zeros, ones, arange, file };
  Kind kind = Kind::normal;
  double low = 0, high = 1;      // uniform: [low, high); randint: low <= value < high
  std::string path;              // file: relative to the kernel file

  bool operator==(const Distribution&) const = default;
};

tl::expected<Distribution, std::string> parse_distribution(std::string_view text);  // error: one sentence
std::string to_string(const Distribution& distribution);
Distribution default_distribution(Dtype dtype);  // normal for floating types, randint(0, 2) for bool, randint(-8, 8) else

// Fills `count` elements. Element i depends on (seed, stream, i) alone and is bit-equal on every device and in Python:
// Philox counters, and a normal as the scaled sum of twelve uniform integers, so that no rounding is left to chance.
// `folder` resolves a file's relative path. Throws base::Error(bad_input) when a file is missing or does not fit.
void fill(Dtype dtype, const Distribution& distribution, std::uint64_t seed, std::uint64_t stream, std::size_t count,
          std::byte* out, const std::filesystem::path& folder = {});

}  // namespace cudal1::tensor
