// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/machine.hpp"
#include "schedule/region.hpp"

namespace cudal1::schedule {

// How threads walk a region's lines.
enum class Walk {
  pointwise,  // no reduction: blocks take chunks of a line
  rows,       // neighbouring threads share a line whose elements are neighbours in memory
  columns,    // neighbouring threads have neighbouring lines; elements are a stride apart
};

Walk walk_of(const Region& region, const Dag& dag);

// How often a line should be split so that the machine is busy; 1: not at all.
int splits_of(const Region& region, Walk walk, const Machine& machine);

}  // namespace cudal1::schedule
