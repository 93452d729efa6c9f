// SPDX-License-Identifier: Apache-2.0
#include "families/row_layout.hpp"

namespace cudal1::families {
namespace {

bool varies(const RowLayout& layout, const tensor::Shape& strides, bool in_row) {
  for (std::size_t i = 0; i < strides.size(); ++i)
    if ((layout.region.element[i] != 0) == in_row && !is_zero(strides[i])) return true;
  return false;
}

}  // namespace

bool RowLayout::varies_in_row(const tensor::Shape& strides) const { return varies(*this, strides, true); }

bool RowLayout::varies_by_row(const tensor::Shape& strides) const { return varies(*this, strides, false); }

int RowLayout::single_element_dim() const {
  int found = -1;
  for (std::size_t i = 0; i < region.space.size(); ++i)
    if (region.element[i]) found = found == -1 ? static_cast<int>(i) : -2;
  return found;
}

bool RowLayout::unit_stride(const tensor::Shape& strides) const {
  tensor::Extent step = literal(1, region.assignments);
  bool any = false;
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (!region.element[i] || is_one(region.space[i])) continue;
    if (!(strides[i] == step)) return false;
    step = times(region.space[i], step);
    any = true;
  }
  return any;
}

bool RowLayout::in_packs(const tensor::Shape& strides) const {
  for (std::size_t i = strides.size(); i-- > 0;)
    if (region.element[i] && !is_one(region.space[i])) return is_one(strides[i]) && (pieces || unit_stride(strides));
  return false;
}

tensor::Extent RowLayout::piece() const {
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (region.element[i] && !is_one(region.space[i])) return region.space[i];
  return literal(1, region.assignments);
}

bool RowLayout::same_in_pack(const tensor::Shape& strides) const {
  if (vec == 1 || single_element_dim() >= 0 || strides.empty()) return false;
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (region.element[i]) return is_zero(strides[i]);
  return false;
}

int RowLayout::beside_dim() const {
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (!region.element[i] && !is_one(region.space[i])) return static_cast<int>(i);
  return -1;
}

bool RowLayout::varies_beside(const tensor::Shape& strides) const {
  return !strides.empty() && !is_zero(strides[static_cast<std::size_t>(beside_dim())]);
}

}  // namespace cudal1::families
