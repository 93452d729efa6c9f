// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/kernel_file.hpp"
#include "families/windows.hpp"

#include <string>

namespace cudal1::families {

// The weights of a transposed convolution, [channels, results, taps…], as a product by residues wants them: for each group
// and residue by the strides a matrix of results by channels and taps, rows filled up with zeros to a multiple of four.
struct ArrangedWeights {
  std::string buffer;
  tensor::Extent row;  // elements
};

// Writes the kernel that makes them from `weights`. Layers come as in the kernel that reads them: groups first, then the residues
// of the last axis.
ArrangedWeights arrange_weights(const Windows& windows, std::int64_t groups, const tensor::Extent& channels,
                                const tensor::Extent& results, const std::string& weights, KernelFile& file);

}  // namespace cudal1::families
