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
  reference,  // each operation as inexact as PyTorch's default flags let it be: convolutions in TF32, products in float32
};
std::string_view name(Precision precision);                       // "reference", "fp32", "tf32", "half"
std::optional<Precision> parse_precision(std::string_view name);

// What a class means for one kind of operation: never `reference`. Recurrent layers count as convolutions, because cuDNN
// computes both (pytorch/precision.py).
Precision of_convolutions(Precision precision);
Precision of_products(Precision precision);

// One line for a reader, the name first.
std::string_view describe(Precision precision);

// Largest relative error of rounding one float32 operand as the class allows; of `reference` that of a product's.
double operand_roundoff(Precision precision);

}  // namespace cudal1::outcome
