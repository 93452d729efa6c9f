// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cudal1::sim {

// PTX's fundamental types.
enum class Element : std::uint8_t {
  pred, b8, b16, b32, b64, b128, u8, u16, u32, u64, s8, s16, s32, s64, f16, f16x2, bf16, bf16x2, tf32, f32, f64, e4m3, e5m2
};

std::optional<Element> parse_element(std::string_view name);  // "f32", without its dot
std::string_view name(Element element);
unsigned bytes_of(Element element);  // in memory; 0 for pred
bool is_float(Element element);
bool is_signed(Element element);

}  // namespace cudal1::sim
