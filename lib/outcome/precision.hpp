// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace cudal1::outcome {

// How exact the products of float32 operands must be, declared for a whole run. Results stay float32.
enum class Precision {
  fp32,  // strictly float32
  tf32,  // operands may be rounded to TensorFloat-32
  half,  // operands may be rounded to bfloat16 or float16; sums stay float32
};
std::string_view name(Precision precision);                       // "fp32", "tf32", "half"
std::optional<Precision> parse_precision(std::string_view name);

// Largest relative error of rounding one float32 operand as the class allows.
double operand_roundoff(Precision precision);

}  // namespace cudal1::outcome
