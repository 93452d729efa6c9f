// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"
#include "tensor/dtype.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::verify {

// Elementwise bounds |got − truth| ≤ absolute + relative·|truth|.
struct Bounds {
  double relative = 0, absolute = 0;
};

// The bounds of a dtype as PyTorch's assert_close has them, the absolute one scaled down for small outputs, for which
// it would let zeros pass.
Bounds dtype_bounds(tensor::Dtype dtype, double root_mean_square);

// The bounds that a task declares for an output.
std::optional<Bounds> declared_bounds(const kernel::File& task, const std::string& output);

// These, or else the dtype's for an output with these values.
Bounds bounds_of(const kernel::File& task, const std::string& output, tensor::Dtype dtype,
                 const std::vector<double>& values);

}  // namespace cudal1::verify
