// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_file.hpp"
#include "schedule/walk.hpp"

#include <vector>

namespace cudal1::families {

using namespace schedule;

// Bound by memory: every leaf is read once per pass, every root written once. With `splits` > 1 the one reduction is
// left unfinished: each of that many blocks per row writes its part to the root, one whole result after the other.
void write_row_kernel(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits = 1);

// Walks rows, each block many of them, and reduces what each root is for a row by the function of the reduction
// `reduces[root]` over all rows: every block leaves its part. Gives how many there are.
tensor::Extent write_total_kernel(const Region& region, const Dag& dag, const std::vector<int>& reduces, KernelFile& file);

}  // namespace cudal1::families
