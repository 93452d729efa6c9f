// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playbook/dag.hpp"
#include "playbook/kernel_file.hpp"
#include "playbook/region.hpp"

#include <string>
#include <vector>

namespace cudal1::playbook {

// How threads walk a region's lines.
enum class Walk {
  pointwise,  // no reduction: blocks take chunks of a line
  rows,       // neighbouring threads share a line whose elements are neighbours in memory
  columns,    // neighbouring threads have neighbouring lines; elements are a stride apart
};

// Bound by memory: every leaf is read once per pass, every root written once. With `splits` > 1 the one reduction is
// left unfinished: each of that many blocks per line writes its part to the root, one whole result after the other.
void write_line_kernel(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits = 1);

// Walks rows, each block many of them, and reduces what each root is for a line by the function of the reduction
// `reduces[root]` over all lines: every block leaves its part. Gives how many there are.
tensor::Extent write_total_kernel(const Region& region, const Dag& dag, const std::vector<int>& reduces, KernelFile& file);

Walk walk_of(const Region& region, const Dag& dag);

// How often a line should be split so that a large GPU is busy; 1: not at all.
int splits_of(const Region& region, Walk walk);

}  // namespace cudal1::playbook
