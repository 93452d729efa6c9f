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
void code_product(const ProductTiles& tiles, const GemmOperands& factors, Arguments& arguments, KernelFile& file);

// A product whose depth is summed in parts.
struct SplitProduct {
  std::string name;          // of the kernel that writes the parts
  std::string scratch;       // where they are: [parts, n, m]
  std::string count;         // of parts, as text
  std::int64_t parts = 1;    // of the first member
  tensor::Extent n, m;
};

// The kernel that adds up the parts in their order and applies what follows; `after` was made with `arguments`.
void write_split_total(const SplitProduct& product, const Epilogue& after, Arguments& arguments, KernelFile& file);

// Gives a file the device code of products on the tensor cores, in the precision of its variant, and says that `kernel`
// makes use of it for `factors`.
void use_tensor_cores(KernelFile& file, const std::string& kernel, const std::string& factors);

// The same of a product of factors in 16 bits.
void use_half_tensor_cores(KernelFile& file, const std::string& kernel, tensor::Dtype dtype);

// How many tiles of 32 depths are on their way at once, for tiles of `rows` and `columns`: an expression of tunables of 128 at
// most. A block's shared memory has room for them.
std::string tile_stages(const std::string& rows, const std::string& columns, const schedule::Machine& machine);

// Shared memory of a block of warpgroup products, of the 227 KiB that compute capability 9.0 gives one: the ring's slots, and what
// results pass through, after up to 1 KiB of alignment.
constexpr int warpgroup_ring_bytes = 192 << 10, warpgroup_block_bytes = warpgroup_ring_bytes + 8 * 16 * 40 * 4 + 1024;

}  // namespace cudal1::families
