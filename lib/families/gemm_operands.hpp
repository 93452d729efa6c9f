// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/arguments.hpp"
#include "schedule/machine.hpp"
#include "schedule/region.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cudal1::families {

using namespace schedule;

// One factor of a product of matrices, as it lies in memory.
struct GemmOperand {
  std::string buffer;
  tensor::Dtype dtype = tensor::Dtype::float32;  // in memory: float32, float64, or of 16 bits
  bool swapped = false;   // stored with its last two dimensions the other way round
  tensor::Extent stride;  // between matrices of a batch; 0: one for all
  std::optional<Triangle> triangle;

  // Its pointer at the batch that `batch` names.
  std::string at_batch(const std::string& pointer, Arguments& arguments, const std::string& batch = "blockIdx.z") const;
};

// [batches, n, depth] times [batches, depth, m], of one type in memory. Neighbours of the left factor lie along the depth unless
// it is swapped; of the right one only then.
struct GemmOperands {
  GemmOperand left, right;
  tensor::Extent n, m, depth, batches;

  bool many_batches() const;  // more than a grid has layers
  bool half() const { return tensor::size_of(left.dtype) == 2; }
  bool doubles() const { return tensor::size_of(left.dtype) == 8; }
  // The condition under which packs of `pack` elements are aligned and never cross an edge.
  std::string whole(Arguments& arguments, int pack = 4) const;
  // `begin` and `end` of those of `all` depths that a tile's results need, as declarations; empty where that is all of them.
  std::string needed_depths(const std::string& all, const std::string& rows, const std::string& columns, const std::string& step) const;
  // At the first workload; more where the tiles of 64 by 64, `parts` of each, are too few for all multiprocessors.
  double operations(const schedule::Machine& machine, std::int64_t parts = 1) const;
  double bytes() const;  // each factor and the result once
};

// Of the product, or convolution whose windows are one element, that is the region's producer; throws NotCovered.
GemmOperands gemm_operands_of(const Region& region, const Dag& dag, const Buffers& buffers);

}  // namespace cudal1::families
