// SPDX-License-Identifier: Apache-2.0
#include "outcome/precision.hpp"

#include <utility>

namespace cudal1::outcome {

namespace {

constexpr std::pair<std::string_view, Precision> names[] = {
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"half", Precision::half}};

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

double operand_roundoff(Precision precision) {
  switch (precision) {
    case Precision::fp32: return 0x1p-24;
    case Precision::tf32: return 0x1p-11;
    case Precision::half: return 0x1p-8;
  }
  return 0x1p-24;
}

}  // namespace cudal1::outcome
