// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dtype.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::tensor {

// An array in numpy's file format, versions 1 to 3, little endian, C order. `data` points into the bytes given.
struct NpyArray {
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape;
  std::string_view data;
};

// The error is one sentence that says what does not fit.
tl::expected<NpyArray, std::string> read_npy(std::string_view bytes);

// The file's bytes for an array. Bfloat16, which numpy does not have, is written as float32, as tensor::fill reads it.
std::string write_npy(Dtype dtype, const std::vector<std::int64_t>& shape, std::string_view data);

}  // namespace cudal1::tensor
