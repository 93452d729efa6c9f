// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

// From the end when negative.
tensor::Extent position(const tensor::Extent& at, const tensor::Extent& extent) {
  const auto negative = [](std::int64_t value) { return value < 0; };
  if (std::none_of(at.values.begin(), at.values.end(), negative)) return at;
  if (!std::all_of(at.values.begin(), at.values.end(), negative)) throw NotCovered{"a position from the end at some sizes only"};
  return plus(extent, at);
}

int slice(Lowering& l) {
  const int operand = l.input();
  const tensor::Shape shape = l.at(operand).shape;
  const std::size_t dim = l.axis(shape.size());
  const tensor::Extent start =
      l.given("start") ? position(l.extent("start"), shape[dim]) : literal(0, l.assignments());
  for (std::int64_t value : start.values)
    if (value < 0) throw NotCovered{"a slice that starts before its tensor"};
  return l.slice(operand, dim, start, l.type().shape[dim], static_cast<int>(l.integer("step")));
}

int select(Lowering& l) {
  const int operand = l.input();
  const tensor::Shape shape = l.at(operand).shape;
  const std::size_t dim = l.axis(shape.size());
  const int part = l.slice(operand, dim, position(l.extent("index"), shape[dim]), l.one());
  return l.reshape(part, l.type().shape);
}

int narrow(Lowering& l) {
  const int operand = l.input();
  const std::size_t dim = l.axis(l.type().shape.size());
  return l.slice(operand, dim, position(l.extent("start"), l.at(operand).shape[dim]), l.type().shape[dim]);
}

int chunk(Lowering& l) {
  const int operand = l.input();
  const std::size_t dim = l.axis(l.type().shape.size());
  tensor::Extent start = l.at(operand).shape[dim];
  const std::int64_t chunks = l.integer("chunks"), index = l.integer("index");
  start.text = fmt::format("ceil_div({}, {}) * {}", start.text, chunks, index);
  for (std::int64_t& value : start.values) value = (value + chunks - 1) / chunks * index;
  return l.slice(operand, dim, start, l.type().shape[dim]);
}

int split(Lowering& l) {
  const int operand = l.input();
  const std::size_t dim = l.axis(l.type().shape.size());
  const tensor::Extent start = times(l.extent("split_size"), literal(l.integer("index"), l.assignments()));
  return l.slice(operand, dim, start, l.type().shape[dim]);
}

int flip(Lowering& l) {
  int result = l.input();
  const tensor::Shape shape = l.at(result).shape;
  for (int dim : l.axes("dims", shape.size())) {
    const tensor::Extent& extent = shape[static_cast<std::size_t>(dim)];
    result = l.slice(result, static_cast<std::size_t>(dim), plus(extent, literal(-1, l.assignments())), extent, -1);
  }
  return result;
}

int cat(Lowering& l) {
  const std::size_t dim = l.axis(l.type().shape.size());
  Node node{Cat{static_cast<int>(dim)}, l.operands(), l.type().dtype, l.type().shape};
  for (int operand : node.operands)
    if (l.at(operand).dtype != node.dtype) node.dtype = wide(node.dtype);
  for (int& operand : node.operands) {
    if (l.at(operand).shape.size() < node.shape.size()) {  // stack
      tensor::Shape shape = l.at(operand).shape;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), l.one());
      operand = l.reshape(operand, shape);
    }
    if (l.at(operand).dtype != node.dtype) operand = l.as(operand, node.dtype);
    for (std::int64_t extent : l.at(operand).shape[dim].values)
      if (extent == 0) throw NotCovered{"torch.cat of an empty tensor"};
  }
  return l.add(node);
}

// Rows, or columns, of a table that integers name: embedding, index_select.
int named_parts(Lowering& l) {
  const int table = l.input(), indices = l.operand("indices");
  const tensor::Shape shape = l.at(table).shape;
  const std::size_t dim = l.axis(shape.size()), rank = shape.size();
  if (dim != 0 && dim + 1 != rank) throw NotCovered{"an index along a dimension that is neither the first nor the last"};
  const tensor::Shape& named = l.at(indices).shape;
  const tensor::Extent count = product_of(named, 0, named.size(), l.assignments());
  const tensor::Extent rest = dim == 0 ? product_of(shape, 1, rank, l.assignments()) : product_of(shape, 0, dim, l.assignments());
  const int matrix = l.reshape(table, dim == 0 ? tensor::Shape{shape[0], rest} : tensor::Shape{rest, shape[dim]});
  const int gather = l.add({Gather{dim == 0}, {matrix, indices}, l.at(table).dtype, dim == 0 ? tensor::Shape{count, rest} : tensor::Shape{rest, count}});
  return l.reshape(gather, l.type().shape);
}

int one_hot(Lowering& l) {
  const std::size_t rank = l.type().shape.size();
  const int hit = l.pointwise("eq", {l.coordinate(l.type().shape.back(), rank - 1, rank), l.behind(l.input(), rank)});
  return l.pointwise("where", {hit, l.literal_number(1, tensor::Dtype::int64), l.literal_number(0, tensor::Dtype::int64)}, tensor::Dtype::int64);
}

}  // namespace

std::vector<LoweringRow> part_lowerings() {
  return {{"slice", slice}, {"select", select}, {"narrow", narrow}, {"chunk", chunk},
          {"split", split}, {"flip", flip},     {"cat", cat},       {"stack", cat},
          {"index", named_parts}, {"one_hot", one_hot}};
}

}  // namespace cudal1::algebra
