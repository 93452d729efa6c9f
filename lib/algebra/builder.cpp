// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::algebra {

Builder::Builder(Dag& dag) : dag_(dag) {
  for (const Node& node : dag.nodes)
    for (const tensor::Extent& extent : node.shape) assignments_ = std::max(assignments_, extent.values.size());
}

std::optional<double> Builder::literal_value(int id) const {
  const Node& node = at(id);
  if (node.kind != Kind::number || node.function.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(node.function.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

int Builder::number(double value, tensor::Dtype dtype) {
  Node node;
  node.kind = Kind::number;
  node.function = fmt::format("{}", value);
  node.dtype = dtype;
  return dag_.add(node);
}

int Builder::number(const tensor::Extent& extent, tensor::Dtype dtype) {
  Node node;
  node.kind = Kind::number;
  node.function = extent.text;
  node.extent = extent;
  node.dtype = dtype;
  return dag_.add(node);
}

int Builder::pointwise(const std::string& function, const std::vector<int>& operands) {
  Node node;
  node.kind = Kind::pointwise;
  node.function = function;
  node.operands = operands;
  std::size_t rank = 0;
  for (int operand : operands) rank = std::max(rank, at(operand).shape.size());
  node.shape.assign(rank, literal(1, assignments_));
  for (int operand : operands) {
    if (at(operand).kind != Kind::number) node.dtype = at(operand).dtype;
    const tensor::Shape& shape = at(operand).shape;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!is_one(shape[i])) node.shape[i + rank - shape.size()] = shape[i];
  }
  return dag_.add(node);
}

int Builder::sum(int operand, const std::vector<int>& dims) {
  if (dims.empty()) return operand;
  Node node;
  node.kind = Kind::reduce;
  node.function = "sum";
  node.operands = {operand};
  node.dims = dims;
  node.dtype = at(operand).dtype;
  node.shape = at(operand).shape;
  for (int dim : dims) node.shape[static_cast<std::size_t>(dim)] = literal(1, assignments_);
  return dag_.add(node);
}

int Builder::reshaped(int operand, tensor::Shape shape) {
  Node node;
  node.kind = Kind::reshape;
  node.operands = {operand};
  node.dtype = at(operand).dtype;
  node.shape = std::move(shape);
  return dag_.add(node);
}

int Builder::swapped(int operand) {
  const Node from = at(operand);
  Node node;
  node.kind = Kind::permute;
  node.operands = {operand};
  node.dtype = from.dtype;
  node.shape = from.shape;
  for (std::size_t i = 0; i < node.shape.size(); ++i) node.dims.push_back(static_cast<int>(i));
  std::swap(node.dims[node.dims.size() - 1], node.dims[node.dims.size() - 2]);
  if (from.kind == Kind::permute && from.dims == node.dims) return from.operands[0];
  std::swap(node.shape[node.shape.size() - 1], node.shape[node.shape.size() - 2]);
  return dag_.add(node);
}

}  // namespace cudal1::algebra
