// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/prepared_graph.hpp"
#include "tensor/rounding.hpp"
#include "tensor/rounding_rule.hpp"

#include <vector>

namespace cudal1::tensor {

using Values = std::vector<double>;

inline constexpr std::int64_t rounding_grain = 65536;   // elements worth a thread

template <typename F>
void for_elements(int threads, std::size_t count, F body) {
  parallel(threads, static_cast<std::int64_t>(count), rounding_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) body(static_cast<std::size_t>(i));
  });
}

inline double square(double x) { return x * x; }

// Of the arithmetic that computes a result of this type: short types are computed in float32 and rounded at the end. y64
// itself is double, so results of that type are held to some units of it.
double arithmetic_roundoff(Dtype dtype);

// The variance of the error that the arithmetic of one function adds to each element of its result, operands taken as exact.
class ArithmeticRounding {
 public:
  using Views = std::vector<const Array*>;

  explicit ArithmeticRounding(const RoundingOptions& options) : options_(options) {}

  // Empty where the function is exact. `inner`: what the graph computes on its way is float32, as inside one function.
  Values variance(const PreparedGraph& graph, NodeId id, const RoundingRule& rule, const Views& operands, const Array& value, bool inner) const;

  // Terms of a sum that one accumulator takes.
  double accumulated(const PreparedGraph& graph, NodeId id, const Views& operands, const Array& value) const;

 private:
  Values of_sum(const PreparedGraph& graph, NodeId id, const Views& operands, const Array& value, double unit, bool inner) const;
  Values of_scan(const PreparedGraph& graph, NodeId id, const Array& in, const Array& value, double unit) const;
  Values of_steps(const PreparedGraph& graph, NodeId id, const Array& value, double unit) const;
  Values mixed_taps(const PreparedGraph& graph, NodeId id, const Views& operands, Values squares) const;

  const RoundingOptions& options_;
};

}  // namespace cudal1::tensor
