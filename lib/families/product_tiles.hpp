// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/epilogue.hpp"
#include "families/gemm_operands.hpp"
#include "families/kernel_file.hpp"

#include <string>

namespace cudal1::families {

// A product in float32 by tiles in shared memory: 256 threads to a tile of `rows` by `columns`, `step` depths at a time.
struct ProductTiles {
  std::string name, rows, columns, step;
  std::string guard = {};        // statements in front, by which a block may leave
  std::string needed = {};       // declarations of `begin` and `end`, or none: all depths
  std::string coordinates = {};  // of the batch
  Epilogue after = {};
  std::string column_block = "blockIdx.x", batch = "blockIdx.z";
};

// Writes the kernel; its launch is the caller's.
void code_product(const ProductTiles& tiles, const GemmOperands& factors, Arguments& arguments, const Region& region, const Dag& dag, KernelFile& file);

}  // namespace cudal1::families
