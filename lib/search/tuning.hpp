// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "kernel/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace cudal1::search {

// In which order the members of a family of tunables are judged: all of them where that is affordable. Otherwise a part of the
// budget is spread over the family, the rest goes to neighbours of the best so far, then of the next best, and where those are used
// up to members at random.
class TuningOrder {
 public:
  TuningOrder(std::vector<kernel::Environment> family, std::size_t budget, std::uint64_t seed);

  // The next to be judged, at most `most`, each given once; empty: the end.
  std::vector<std::size_t> next(std::size_t most);
  // What became of one: its speed-up, or 0 where it is not right.
  void told(std::size_t member, double score);

  bool exhaustive() const { return budget_ >= family_.size(); }
  const std::vector<kernel::Environment>& family() const { return family_; }

 private:
  void give(std::size_t member, std::vector<std::size_t>& list);

  std::vector<kernel::Environment> family_;
  std::size_t budget_, given_count_ = 0, begun_ = 0;
  std::vector<std::size_t> first_;               // members to begin with
  std::vector<bool> given_;
  std::multimap<double, std::size_t> scores_;    // the best last
  base::Random random_;
};

}  // namespace cudal1::search
