// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/families.hpp"
#include "families/variant.hpp"

#include <string_view>
#include <vector>

namespace cudal1::families {

// A kind of kernel. Those with a producer start from a product, convolution, pool, scan or gather and compute what follows in
// registers; the others are chosen by how a region's rows are walked (compose.cpp).
struct Family {
  std::string_view name;
  // Whether it writes this region in this variant, and the region as it writes it; null for a family without a producer.
  // The first family of the list that matches writes.
  bool (*matches)(Region& region, const Dag& dag, const KernelFile& file);
  void (*write)(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);
  // The ways that it knows beside the usual one.
  std::vector<Variant> variants;
};

const std::vector<Family>& families();

// The usual variant, what the families know beside it, and the two that all of them have: the plainest, and one kernel for
// each operation. In the order in which equals are offered.
std::vector<Variant> variants();

// By the first family that matches; the region has a producer. Throws NotCovered.
void write_producer(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file);

}  // namespace cudal1::families
