// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudal1::tensor {

// A dense row-major array in double precision. Integers and truth values are held exactly up to 2^53.
struct Array {
  Dtype dtype = Dtype::float64;        // what the values stand for: an integer dtype makes division and argmax behave so
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

Array from_bytes(Dtype dtype, std::vector<std::int64_t> shape, const std::byte* data);

// Evaluates the graph in double precision on the CPU: y64, what a variant is judged against. `scalars` gives sizes and
// scalar parameters by name. Returns the outputs by name, or a diagnostic at the operation whose shapes do not fit.
// `threads` only changes the time, never a bit of the result.
tl::expected<std::map<std::string, Array>, base::Diagnostic> evaluate(const Graph& graph,
                                                                      const std::map<std::string, Array>& inputs,
                                                                      const std::map<std::string, double>& scalars,
                                                                      int threads = 1);

// Work of the line as written, from shapes alone: arithmetic operations (a fused multiply-add counts two). Used to
// decide whether an oracle is affordable, and for the share of the arithmetic peak.
double operations(const Graph& graph, const std::vector<Type>& types, std::size_t assignment);

}  // namespace cudal1::tensor
