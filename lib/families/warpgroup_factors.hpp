// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/gemm_operands.hpp"
#include "families/kernel_file.hpp"

#include <string>
#include <vector>

namespace cudal1::families {

// One factor of a product as warpgroups multiply it: elements of 16 bits that tensor maps find.
struct WarpgroupFactor {
  std::vector<std::string> buffers;  // the factor itself; or its halves in scratch, the higher first
  tensor::Dtype dtype = tensor::Dtype::float16;
  bool along = true;  // neighbours lie along the depth
  bool batched = false;
  tensor::Extent lines, depth, pitch, batches;  // pitch: from one row in memory to the next
  std::string back;  // scratch that undoes the scale of each line, NaN where float32 has to; empty: nothing to undo

  // The tensor map of one of the buffers, with boxes of `box` lines.
  std::string map(std::size_t half, const std::string& box) const;
  // Statements that load the box at depth k of every half from `line_start` on; `maps` are the maps' parameters.
  std::string loads(const std::vector<std::string>& maps, const std::string& to, const std::string& line_start, const std::string& box,
                    const std::string& slot_bytes) const;
  // The descriptor of one of four parts of the depth.
  std::string descriptor(const std::string& tile) const;
};

// Whether a product must be as exact as one in float32. A convolution whose windows are one element is held to what convolutions may be.
bool is_exact(const Node& producer, const KernelFile& file);

// Whether GPUs that have warpgroup products can multiply these factors so, at every size that the task declares.
bool suits_warpgroups(const GemmOperands& factors, const schedule::Machine& machine);

// Whether a product of float32 factors is faster with its right factor as it lies in memory than with halves of it.
bool suits_straight_product(const GemmOperands& factors, bool exact, const schedule::Machine& machine);

// A factor in 16 bits as it is, any other as `halves` halves, which a kernel writes first.
WarpgroupFactor warpgroup_factor(const GemmOperands& factors, bool left, int halves, KernelFile& file);

}  // namespace cudal1::families
