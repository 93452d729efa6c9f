// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>
#include <string>

namespace cudal1::tensor {

// Element types under PyTorch's names.
enum class Dtype { float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, bool_ };

std::optional<Dtype> parse_dtype(std::string_view name);  // "float32", "bool"
std::string_view name(Dtype dtype);
std::string_view cuda_name(Dtype dtype);                  // "float", "__half", "long long", "bool" …
std::vector<std::string> dtype_names();
std::size_t size_of(Dtype dtype);                         // bytes
bool is_floating(Dtype dtype);

// Unit roundoff of a floating type: 2^-53, 2^-24, 2^-11, 2^-8; 0 for integers.
double unit_roundoff(Dtype dtype);

// The value as the type holds it (round to nearest even, integers wrap as C does), and back.
void store(Dtype dtype, double value, std::byte* element);
double load(Dtype dtype, const std::byte* element);

}  // namespace cudal1::tensor
