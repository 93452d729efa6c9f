// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <cstdint>

namespace cudal1::families {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// The same of an extent at every assignment, and in its text.
tensor::Extent ceil_div(const tensor::Extent& extent, std::int64_t by);
tensor::Extent round_up(const tensor::Extent& extent, std::int64_t to);
tensor::Extent divided(const tensor::Extent& extent, std::int64_t by);  // rounded down

}  // namespace cudal1::families
