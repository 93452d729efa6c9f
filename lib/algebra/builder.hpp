// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::algebra {

// Appends nodes to a dag, for rules that rewrite it; every function returns the node with the result.
class Builder {
 public:
  explicit Builder(Dag& dag);

  const Node& at(int id) const { return dag_.at(id); }
  std::size_t assignments() const { return assignments_; }
  // The value of a number that is written out; nothing for sizes, scalars and other nodes.
  std::optional<double> literal_value(int id) const;

  int number(double value, tensor::Dtype dtype);
  int number(const tensor::Extent& extent, tensor::Dtype dtype);
  int pointwise(const std::string& function, const std::vector<int>& operands);  // operands broadcast
  int sum(int operand, const std::vector<int>& dims);                            // keeps the dimensions
  int reshaped(int operand, const tensor::Shape& shape);
  int swapped(int operand);  // the last two dimensions
  int add(Node node) { return dag_.add(std::move(node)); }

 private:
  Dag& dag_;
  std::size_t assignments_ = 1;
};

}  // namespace cudal1::algebra
