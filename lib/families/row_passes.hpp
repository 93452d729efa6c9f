// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/region.hpp"

#include <map>
#include <set>
#include <vector>

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

// What each pass over a row reads, reduces and writes. A pass finishes the reductions that need no other one of its own pass.
class RowPasses {
 public:
  RowPasses(const Region& region, const Dag& dag, int splits);

  int last() const { return last_; }
  int count() const;                        // that read elements
  bool reducing(int phase, int id) const;   // a pass makes this reduction
  std::vector<int> targets(int phase) const;  // instances that a pass needs of each element
  // Element leaves that a pass reads for a target; `kept`: not counting those behind what registers hold already.
  void collect(int id, int phase, bool kept, std::set<int>& leaves) const;
  // Instances that a pass computes for a target.
  void reach(int id, int phase, std::set<int>& out) const;
  bool keepable(int id) const;  // worth registers between passes: read from memory, or costly
  int kept_count() const;       // arrays that a row needs while it is in registers

  std::map<int, int> first;  // of what registers hold: the pass that loads or computes it

 private:
  const Region& region_;
  const Dag& dag_;
  int splits_, last_;
};

// Two reductions, the second of which reads elements less what the first found, as a softmax and a variance have them. Each block of
// a team reduces relative to its own maximum or mean, and partial results are rescaled when they are combined (online softmax,
// Chan's formula for moments): the blocks exchange both at once.
struct Meeting {
  int first = -1, second = -1;  // the reductions; -1: there is no such pair
  int centre = -1;              // the mean, of moments
  int powers = -1;              // the exponentials, of a softmax
};

Meeting meeting_of(const Region& region, const Dag& dag);

}  // namespace cudal1::families
