// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_file.hpp"
#include "schedule/region.hpp"
#include "tensor/shape.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cudal1::families {

using namespace schedule;

// Scratches of floats, with their extents.
using Positives = std::vector<std::pair<std::string, tensor::Extent>>;

// The convolution that is the region's producer, on the tensor cores or in float32. Where `unless` names scratches, only if not
// all of their elements are above zero.
void write_convolution_kernel(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file, bool tensor_cores, const Positives& unless);

}  // namespace cudal1::families
