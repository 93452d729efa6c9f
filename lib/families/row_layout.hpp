// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/region.hpp"

namespace cudal1::families {

using namespace schedule;

// Where the elements of a region's rows lie in memory, by the strides of what reads or writes them.
struct RowLayout {
  const Region& region;
  int vec = 1;         // neighbouring elements that a thread reads and writes at once, a pack
  bool pieces = true;  // rows that lie in pieces, as a channel of a batch does, have whole packs in each

  bool varies_in_row(const tensor::Shape& strides) const;
  bool varies_by_row(const tensor::Shape& strides) const;
  int single_element_dim() const;                          // the iteration dimension of the elements; negative where there are several
  bool unit_stride(const tensor::Shape& strides) const;    // the elements of a row lie one behind the other
  bool in_packs(const tensor::Shape& strides) const;       // neighbouring elements are neighbours in memory, in whole packs
  tensor::Extent piece() const;                            // how many elements of a row lie one behind the other at least
  bool same_in_pack(const tensor::Shape& strides) const;   // whole packs read one value, as weights of channels are read along positions
  int beside_dim() const;                                  // the dimension along which neighbouring rows are neighbours; -1: there is none
  bool varies_beside(const tensor::Shape& strides) const;  // from a row to its neighbour
};

}  // namespace cudal1::families
