// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/row_layout.hpp"

#include <map>
#include <set>
#include <vector>

namespace cudal1::families {

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

}  // namespace cudal1::families
