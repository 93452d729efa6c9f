// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudal1::tensor {

// An extent that is written in sizes and known at one or more assignments of them (workloads, check sizes). Two
// extents are equal when they agree at every assignment, so symbolic reasoning never needs a theorem prover: with one
// assignment this is ordinary shape inference, with several it is what the playbook generates code from.
struct Extent {
  std::string text;                  // a C expression of sizes: "N", "(H + 2*P - K) / S + 1", "128"
  std::vector<std::int64_t> values;  // at each assignment

  bool operator==(const Extent& other) const { return values == other.values; }
};
using Shape = std::vector<Extent>;

struct Type {
  Dtype dtype = Dtype::float32;
  Shape shape;  // empty: a scalar
};

// Values of sizes (and integer scalars) by name.
using Sizes = std::map<std::string, std::int64_t>;

// The type of every node, in the order of graph.nodes. `inputs` gives dtype and shape of each input by name;
// `assignments` are the size assignments behind Extent::values. A mismatch is a diagnostic at the operation.
tl::expected<std::vector<Type>, base::Diagnostic> infer(const Graph& graph, const std::map<std::string, Type>& inputs,
                                                        const std::vector<Sizes>& assignments);

// The order of axes that a "transpose" or "permute" node makes of a tensor with `rank` dimensions: result axis i is
// operand axis order[i]. `A.T` is a permute whose dims are None: all axes reversed.
std::vector<int> permutation(const Node& node, int rank);

// An attribute with its sizes known: one Extent per element of a list, one for a number, none for None. Empty too when
// it is no integer.
std::vector<Extent> resolve(const Graph& graph, const std::vector<Type>& types, const Attribute& attribute,
                            const std::vector<Sizes>& assignments);

}  // namespace cudal1::tensor
