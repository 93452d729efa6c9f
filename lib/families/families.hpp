// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/not_covered.hpp"
#include "families/kernel_file.hpp"
#include "schedule/region.hpp"

#include <string>

namespace cudal1::families {

using namespace schedule;

// Generators for kernels that are more than walks along rows, one file each. They throw NotCovered.
bool is_transposition(const Region& region);
void write_transposition(const Region& region, const Dag& dag, KernelFile& file);
void write_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_tensor_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_warpgroup_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_straight_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool is_product(const Node& convolution);
bool is_tiled_convolution(const Node& node);
void write_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool is_warpgroup_convolution(const Node& node, const Node& input, const Node& weights, const schedule::Machine& machine);
void write_warpgroup_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool makes_strips(const Node& node, const Node& input);
void write_strips(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool is_depthwise(const Node& node, const schedule::Machine& machine);
void write_depthwise(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_windows(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_gather(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_scan(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_attention(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);
bool is_warpgroup_attention(int node, const Dag& dag, const KernelFile& file);
void write_warpgroup_attention(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);
void write_window_sums(int node, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file);

}  // namespace cudal1::families
