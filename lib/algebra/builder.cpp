// SPDX-License-Identifier: Apache-2.0
#include "algebra/builder.hpp"

#include "algebra/pointwise.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::algebra {

tensor::Dtype wide(tensor::Dtype dtype) {
  return dtype == tensor::Dtype::float16 || dtype == tensor::Dtype::bfloat16 ? tensor::Dtype::float32 : dtype;
}

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

tensor::Extent Builder::count(int id, const std::vector<int>& dims) const {
  tensor::Extent result = one();
  for (int dim : dims) result = times(result, at(id).shape[static_cast<std::size_t>(dim)]);
  return result;
}

int Builder::number(double value, tensor::Dtype dtype) { return add({Number{fmt::format("{}", value)}, {}, dtype}); }

int Builder::number(const tensor::Extent& extent, tensor::Dtype dtype) { return add({Number{extent.text, extent}, {}, dtype}); }

int Builder::pointwise(const std::string& function, const std::vector<int>& operands) {
  tensor::Dtype dtype = at(operands.front()).dtype;
  for (int operand : operands)
    if (!at(operand).is<Number>()) dtype = at(operand).dtype;
  return pointwise(function, operands, find_pointwise(function)->truth ? tensor::Dtype::bool_ : dtype);
}

int Builder::pointwise(const std::string& function, const std::vector<int>& operands, tensor::Dtype dtype) {
  return add({Pointwise{function}, operands, wide(dtype), broadcast(dag_, operands, assignments_)});
}

int Builder::reduce(const std::string& function, int operand, const std::vector<int>& dims) {
  if (dims.empty()) return operand;
  const tensor::Dtype dtype = function == "argmax" || function == "argmin" ? tensor::Dtype::int64 : wide(at(operand).dtype);
  tensor::Shape shape = at(operand).shape;
  for (int dim : dims) shape.at(static_cast<std::size_t>(dim)) = one();
  return add({Reduce{function, dims}, {operand}, dtype, std::move(shape)});
}

int Builder::reshape(int operand, const tensor::Shape& shape) {
  return at(operand).shape == shape ? operand : add({Reshape{}, {operand}, at(operand).dtype, shape});
}

int Builder::behind(int operand, std::size_t rank) {
  tensor::Shape shape = at(operand).shape;
  shape.resize(rank, one());
  return reshape(operand, shape);
}

int Builder::permute(int operand, const std::vector<int>& dims) {
  if (std::is_sorted(dims.begin(), dims.end())) return operand;
  const Node from = at(operand);
  if (from.is<Permute>()) {
    std::vector<int> both;
    for (int dim : dims) both.push_back(from.as<Permute>().dims[static_cast<std::size_t>(dim)]);
    return permute(from.operands[0], both);
  }
  tensor::Shape shape;
  for (int dim : dims) shape.push_back(from.shape[static_cast<std::size_t>(dim)]);
  return add({Permute{dims}, {operand}, from.dtype, std::move(shape)});
}

int Builder::swap_last(int operand) {
  std::vector<int> dims(at(operand).shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return permute(operand, dims);
}

}  // namespace cudal1::algebra
