// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/evaluate.hpp"
#include "tensor/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::tensor {

struct Function;

// One node as the rules of its function see it: operand types, and attributes with their size texts resolved. All
// members throw Refusal when an attribute does not fit.
class Call {
 public:
  Call(const Graph& graph, const Node& node, const Function& function, const std::vector<Type>& types,
       const std::vector<char>& weak, const Names& names);

  std::size_t assignments() const { return names_.assignments; }
  int operands() const { return static_cast<int>(node_.operands.size()); }
  const Type& type(int operand) const;
  bool weak(int operand) const;         // a Python number, which gives way in dtype promotion
  int index(std::string_view parameter) const;  // of an operand; -1 when absent
  bool has(std::string_view parameter) const;   // an attribute that is not None, or an operand
  const Node& node() const { return node_; }

  bool truth(std::string_view parameter) const;
  std::string word(std::string_view parameter) const;            // "" when the attribute is no word
  double number(std::string_view parameter) const;               // at the first assignment
  Quantity quantity(std::string_view parameter) const;
  std::vector<Quantity> quantities(std::string_view parameter) const;         // empty when None
  std::vector<Quantity> quantities(std::string_view parameter, int count) const;  // one element serves all axes
  std::int64_t integer(std::string_view parameter) const;        // equal at every assignment
  std::vector<std::int64_t> integers(std::string_view parameter) const;
  std::vector<std::int64_t> integers(std::string_view parameter, int count) const;

  // An axis of a tensor with `rank` dimensions, from 0.
  int axis(std::string_view parameter, int rank) const;
  std::vector<int> axes(std::string_view parameter, int rank) const;  // sorted; all of them when None
  static int axis(std::int64_t dim, int rank);

  Quantity constant(std::int64_t value) const { return Quantity::of(value, assignments()); }
  Quantity extent(int operand, int axis) const;

 private:
  const Attribute& attribute(std::string_view parameter) const;

  const Graph& graph_;
  const Node& node_;
  const Function& function_;
  const std::vector<Type>& types_;
  const std::vector<char>& weak_;
  const Names& names_;
};

// The common shape of several by PyTorch's broadcasting rule.
Shape broadcast(const std::vector<const Shape*>& shapes);
// The dtype PyTorch computes in: tensors with dimensions first, then 0-dimensional ones, then Python numbers.
Dtype promoted(const Call& call, const std::vector<int>& operands);
Dtype promote(Dtype a, Dtype b);
// Integers and truth values become float32 where a function needs reals.
inline Dtype floating(Dtype dtype) { return is_floating(dtype) ? dtype : Dtype::float32; }
std::string to_string(const Shape& shape);
bool is_one(const Extent& extent);
int rank(const Type& type);

}  // namespace cudal1::tensor
