// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/region.hpp"

namespace cudal1::families {

using namespace schedule;

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
