// SPDX-License-Identifier: Apache-2.0
#include "families/extents.hpp"

#include <fmt/format.h>

namespace cudal1::families {

tensor::Extent ceil_div(const tensor::Extent& extent, std::int64_t by) {
  tensor::Extent result{fmt::format("ceil_div({}, {})", extent.text, by), extent.values};
  for (std::int64_t& value : result.values) value = ceil_div(value, by);
  return result;
}

tensor::Extent round_up(const tensor::Extent& extent, std::int64_t to) {
  tensor::Extent result{fmt::format("ceil_div({0}, {1}) * {1}", extent.text, to), extent.values};
  for (std::int64_t& value : result.values) value = round_up(value, to);
  return result;
}

tensor::Extent divided(const tensor::Extent& extent, std::int64_t by) {
  if (by == 1) return extent;
  tensor::Extent result{fmt::format("{} / {}", algebra::in_parentheses(extent.text), by), extent.values};
  for (std::int64_t& value : result.values) value /= by;
  return result;
}

}  // namespace cudal1::families
