// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::algebra {

// Choices that change which primitives stand for an operation.
struct LowerOptions {
  bool attention = true;  // attention is one kernel, also where it is spelt out; off: products and a softmax
};

// Spells a torch line out in primitives. The error is one sentence that names what is not covered.
tl::expected<Dag, std::string> lower(const tensor::Graph& graph, const std::vector<tensor::Type>& types, const std::vector<tensor::Sizes>& sizes,
                                     const LowerOptions& options = {});

}  // namespace cudal1::algebra
