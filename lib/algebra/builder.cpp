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
  if (!at(id).is<Number>() || at(id).as<Number>().text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(at(id).as<Number>().text.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

int Builder::number(double value, tensor::Dtype dtype) { return add({Number{fmt::format("{}", value)}, {}, dtype}); }

int Builder::number(const tensor::Extent& extent, tensor::Dtype dtype) { return add({Number{extent.text, extent}, {}, dtype}); }

int Builder::pointwise(const std::string& function, const std::vector<int>& operands) {
  tensor::Dtype dtype = tensor::Dtype::float32;
  for (int operand : operands)
    if (!at(operand).is<Number>()) dtype = at(operand).dtype;
  return add({Pointwise{function}, operands, dtype, broadcast(dag_, operands, assignments_)});
}

int Builder::sum(int operand, const std::vector<int>& dims) {
  if (dims.empty()) return operand;
  tensor::Shape shape = at(operand).shape;
  for (int dim : dims) shape[static_cast<std::size_t>(dim)] = literal(1, assignments_);
  return add({Reduce{"sum", dims}, {operand}, at(operand).dtype, shape});
}

int Builder::reshaped(int operand, const tensor::Shape& shape) { return add({Reshape{}, {operand}, at(operand).dtype, shape}); }

int Builder::swapped(int operand) {
  const Node from = at(operand);
  if (from.is<Permute>() && from.as<Permute>().swaps_last()) return from.operands[0];
  std::vector<int> dims;
  for (std::size_t i = 0; i < from.shape.size(); ++i) dims.push_back(static_cast<int>(i));
  tensor::Shape shape = from.shape;
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return add({Permute{dims}, {operand}, from.dtype, shape});
}

}  // namespace cudal1::algebra
