// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/evaluate.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::tensor {

// Where the inputs must be cut so that a line gives an output at some indices of one of its axes alone: for each input
// the axis of these indices, or -1 where all of it is needed. Empty when elements with different indices meet (a softmax
// along that axis), or when a function's axes are not followed.
std::optional<std::map<std::string, int>> cuts(const Graph& graph, const std::map<std::string, Array>& inputs,
                                               const std::map<std::string, double>& scalars, const std::string& output, int axis);

// The array at some indices of one axis, in their order.
Array cut(const Array& array, int axis, const std::vector<std::int64_t>& indices);

}  // namespace cudal1::tensor
