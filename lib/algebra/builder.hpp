// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::algebra {

// The type that values of a type are kept in between input and output: 16 bits may not hold them on the way.
tensor::Dtype wide(tensor::Dtype dtype);

// Appends nodes to a dag; every function returns the node with the result.
class Builder {
 public:
  explicit Builder(Dag& dag);
  Builder(Dag& dag, std::size_t assignments) : dag_(dag), assignments_(assignments) {}

  const Node& at(int id) const { return dag_.at(id); }
  std::size_t assignments() const { return assignments_; }
  tensor::Extent one() const { return literal(1, assignments_); }
  // The value of a number that is written out; nothing for sizes, scalars and other nodes.
  std::optional<double> literal_value(int id) const;
  // How many elements of a node are reduced along dimensions.
  tensor::Extent count(int id, const std::vector<int>& dims) const;

  int number(double value, tensor::Dtype dtype);
  int number(const tensor::Extent& extent, tensor::Dtype dtype);
  // Operands broadcast. Floats stay what they are, truth becomes bool.
  int pointwise(const std::string& function, const std::vector<int>& operands);
  int pointwise(const std::string& function, const std::vector<int>& operands, tensor::Dtype dtype);
  int reduce(const std::string& function, int operand, const std::vector<int>& dims);  // keeps the dimensions
  int sum(int operand, const std::vector<int>& dims) { return reduce("sum", operand, dims); }
  int reshape(int operand, const tensor::Shape& shape);
  int behind(int operand, std::size_t rank);  // with dimensions of extent 1 behind its own
  int permute(int operand, const std::vector<int>& dims);
  int swap_last(int operand);
  int add(Node node) { return dag_.add(std::move(node)); }

 protected:
  Dag& dag_;
  std::size_t assignments_ = 1;
};

}  // namespace cudal1::algebra
