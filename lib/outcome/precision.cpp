// SPDX-License-Identifier: Apache-2.0
#include "outcome/precision.hpp"

#include <utility>

namespace cudal1::outcome {

namespace {

constexpr std::pair<std::string_view, Precision> names[] = {
    {"reference", Precision::reference}, {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"half", Precision::half}};

}  // namespace

std::string_view name(Precision precision) {
  for (const auto& [text, value] : names)
    if (value == precision) return text;
  return "";
}

std::optional<Precision> parse_precision(std::string_view name) {
  for (const auto& [text, value] : names)
    if (text == name) return value;
  return std::nullopt;
}

Precision of_convolutions(Precision precision) { return precision == Precision::reference ? Precision::tf32 : precision; }

Precision of_products(Precision precision) { return precision == Precision::reference ? Precision::fp32 : precision; }

std::string_view describe(Precision precision) {
  switch (precision) {
    case Precision::reference: return "reference: convolutions may use TF32, products are float32's, as by PyTorch's default flags";
    case Precision::fp32: return "fp32: convolutions and products as exact as float32";
    case Precision::tf32: return "tf32: convolutions and products may use TF32";
    case Precision::half: return "half: convolutions and products may round operands to bfloat16 or float16";
  }
  return "";
}

double operand_roundoff(Precision precision) {
  switch (precision) {
    case Precision::reference:
    case Precision::fp32: return 0x1p-24;
    case Precision::tf32: return 0x1p-11;
    case Precision::half: return 0x1p-8;
  }
  return 0x1p-24;
}

}  // namespace cudal1::outcome
