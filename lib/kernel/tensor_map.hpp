// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression_node.hpp"
#include "kernel/plan.hpp"

#include <string>
#include <vector>

namespace cudal1::kernel {

// `tensor_map(B, axes(K, N), box(32, 128), swizzle(128), type(tf32), strides(K))`: is this expression one.
bool is_tensor_map(const Expression::Node& node);

// Evaluates it and holds it against what cuTensorMapEncodeTiled and the buffer allow. Throws Complaint.
TensorMapArgument tensor_map(const Expression::Node& node, const BufferArgument& from, const PlanBuffer& buffer, const Environment& environment);

// The values of one part, as written; null where it is not given.
const Expression::Node* tensor_map_part(const Expression::Node& node, const std::string& part);

// The driver's name of the map's element type: "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32". `word` is what type(…) says; empty: the dtype's.
std::string tensor_map_type(const std::string& word, tensor::Dtype dtype);

}  // namespace cudal1::kernel
