// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "families/kernel_file.hpp"
#include "families/variant.hpp"
#include "schedule/region.hpp"
#include "tensor/shape.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::families {

using namespace schedule;

// Generators for kernels that are more than walks along rows, one file each. They throw NotCovered.
using Write = void(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
Write write_product, write_tensor_product, write_warpgroup_product, write_straight_product, write_convolution, write_warpgroup_convolution,
    write_straight_convolution, write_strips,
    write_windows, write_gather, write_scan, write_recurrence;
bool is_transposition(const Region& region);
void write_transposition(const Region& region, const Dag& dag, KernelFile& file);
bool is_product(const Node& convolution);
bool is_tiled_convolution(const Node& node);
bool is_warpgroup_convolution(const Node& node, const Node& input, const Node& weights, const schedule::Machine& machine);
bool is_straight_convolution(const Node& node, const Node& input, const Node& weights, const schedule::Machine& machine);
bool makes_strips(const Node& node, const Node& input);
void write_attention(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool is_warpgroup_attention(int node, const Dag& dag, const KernelFile& file);
void write_warpgroup_attention(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_window_sums(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);

// Bound by memory: every leaf is read once per pass, every root written once. With `splits` > 1 the one reduction is
// left unfinished: each of that many blocks per row writes its part to the root, one whole result after the other.
void write_row_kernel(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits = 1);

// Walks rows, each block many of them, and reduces what each root is for a row by the function of the reduction
// `reduces[root]` over all rows: every block leaves its part. Gives how many there are.
tensor::Extent write_total_kernel(const Region& region, const Dag& dag, const std::vector<int>& reduces, KernelFile& file);

// Scratches of floats, with their extents.
using Positives = std::vector<std::pair<std::string, tensor::Extent>>;

// The convolution that is the region's producer, on the tensor cores or in float32. Where `unless` names scratches, only if not
// all of their elements are above zero.
void write_convolution_kernel(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file, bool tensor_cores, const Positives& unless);

// A kind of kernel. Those with a producer start from a product, convolution, pool, scan or gather and compute what follows in
// registers; the others are chosen by how a region's rows are walked (compose.cpp).
struct Family {
  std::string_view name;
  // Whether it writes this region in this variant, and the region as it writes it; null for a family without a producer.
  // The first family of the list that matches writes.
  bool (*matches)(Region& region, const Dag& dag, const KernelFile& file);
  Write* write;
  // The ways that it knows beside the usual one.
  std::vector<Variant> variants;
};

const std::vector<Family>& families();

// The usual variant, what the families know beside it, and the two that all of them have: the plainest, and one kernel for
// each operation. In the order in which equals are offered.
std::vector<Variant> variants();

Variant plainest();  // attention in three steps, too

// By the first family that matches; the region has a producer. Throws NotCovered.
Write write_producer;

}  // namespace cudal1::families
