// SPDX-License-Identifier: Apache-2.0
#include "sim/element.hpp"

namespace cudal1::sim {

namespace {

struct Row {
  std::string_view name;
  unsigned bytes;
};
constexpr Row rows[] = {{"pred", 0}, {"b8", 1},  {"b16", 2},   {"b32", 4},  {"b64", 8},    {"b128", 16}, {"u8", 1},
                        {"u16", 2},  {"u32", 4}, {"u64", 8},   {"s8", 1},   {"s16", 2},    {"s32", 4},   {"s64", 8},
                        {"f16", 2},  {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4}, {"tf32", 4}, {"f32", 4},   {"f64", 8},   {"e4m3", 1}, {"e5m2", 1}};

}  // namespace

std::optional<Element> parse_element(std::string_view name) {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name) return static_cast<Element>(i);
  return std::nullopt;
}

std::string_view name(Element element) { return rows[static_cast<std::size_t>(element)].name; }
unsigned bytes_of(Element element) { return rows[static_cast<std::size_t>(element)].bytes; }
bool is_float(Element element) { return element >= Element::f16; }
bool is_signed(Element element) { return element >= Element::s8 && element <= Element::s64; }

}  // namespace cudal1::sim
