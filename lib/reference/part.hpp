// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "reference/truth.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::reference {

// What one output must be at some indices of one of its axes. `expected` is that output cut to them.
struct Part {
  int axis = 0;
  std::vector<std::int64_t> indices;   // ascending
  Expected expected;
};

// y64 of one output at up to `count` random indices of an axis along which the torch line can be cut, the axis that makes
// it cheapest. Empty where there is none, or where even one index takes more than `operations_limit`. A part that is wrong
// in a share f of the indices escapes `count` of them with probability (1 - f)^count.
std::optional<Part> part_oracle(const task::Task& task, const task::Workload& workload, std::size_t assignment,
                                const std::map<std::string, tensor::Array>& inputs, const std::string& output, std::size_t count,
                                double operations_limit, const Soundness& soundness, base::Random& random, int threads);

// y64 and sigma of all outputs, a few indices of an axis at a time and many such pieces at once: what is computed on the way stays in the
// caches. Empty where a line cannot be cut so, needs whole inputs that are large, or has outputs that are not floats.
std::optional<std::vector<Expected>> oracle_in_pieces(const task::Task& task, const task::Workload& workload, const std::vector<Bytes>& inputs,
                                                      const Soundness& soundness, int threads);

// y64 of one output at these indices of an axis along which the line can be cut, without sigma.
std::optional<std::vector<double>> truth_at(const task::Task& task, const task::Workload& workload,
                                            const std::map<std::string, tensor::Array>& inputs, const std::string& output, int axis,
                                            const std::vector<std::int64_t>& indices, int threads);

// Values of a whole output at a part's indices.
std::vector<double> at(const Part& part, const std::vector<std::int64_t>& shape, const std::vector<double>& values);

// Sigma of a whole output from parts of it: at each place of the other axes that of the parts, larger where `values` at
// an index are larger than in the parts.
std::vector<double> spread(const Part& part, const std::vector<std::int64_t>& shape, const std::vector<double>& values);

}  // namespace cudal1::reference
