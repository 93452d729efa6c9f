// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/machine.hpp"
#include "schedule/region.hpp"

namespace cudal1::schedule {

// How threads walk a region's rows.
enum class Walk {
  pointwise,  // no reduction: blocks take chunks of a row
  rows,       // neighbouring threads share a row whose elements are neighbours in memory
  columns,    // neighbouring threads have neighbouring rows; elements are a stride apart
};

Walk walk_of(const Region& region, const Dag& dag);

// How often a row should be split so that the machine is busy; 1: not at all.
int splits_of(const Region& region, Walk walk, const Machine& machine);

}  // namespace cudal1::schedule
