// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>

namespace cudal1::algebra {
namespace {

int first(Lowering& l) { return l.operand("input"); }

int reshaped(Lowering& l) { return l.reshape(first(l), l.type().shape); }

int permuted(Lowering& l) {
  std::vector<int> dims = l.order("dims", l.at(first(l)).shape.size());
  if (!l.given("dims")) std::reverse(dims.begin(), dims.end());  // X.T
  return l.permute(first(l), dims);
}

int transposed(Lowering& l) {
  const std::size_t rank = l.at(first(l)).shape.size();
  std::vector<int> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(static_cast<int>(i));
  const auto axis = [&](std::int64_t dim) {
    return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
  };
  std::swap(dims.at(axis(l.integer("dim0"))), dims.at(axis(l.integer("dim1"))));
  return l.permute(first(l), dims);
}

int expanded(Lowering& l) {
  const int operand = first(l);
  return l.expand(operand, l.type().shape);
}

int full(Lowering& l) { return l.expand(l.literal_number(l.number("fill_value")), l.type().shape); }

// Where each element stands, in steps from a start.
int arange(Lowering& l) {
  const tensor::Dtype dtype = l.type().dtype;
  const double start = l.given("end") ? l.number("start") : 0, step = l.given("step") ? l.number("step") : 1;
  int result = l.pointwise("identity", {l.coordinate(l.type().shape[0], 0, 1)}, dtype);
  if (step != 1) result = l.pointwise("mul", {result, l.literal_number(step, dtype)}, dtype);
  return start == 0 ? result : l.pointwise("add", {result, l.literal_number(start, dtype)}, dtype);
}

// A vector as the diagonal of a matrix: the coordinates decide.
int diag(Lowering& l) {
  const int operand = first(l);
  if (l.at(operand).shape.size() != 1 || (l.given("diagonal") && l.integer("diagonal") != 0))
    throw NotCovered{"torch.diag of anything but a vector is not covered by the playbook"};
  const tensor::Extent extent = l.at(operand).shape[0];
  const int on = l.pointwise("eq", {l.coordinate(extent, 0, 2), l.coordinate(extent, 1, 2)});
  return l.pointwise("where", {on, l.reshape(operand, {literal(1, l.assignments()), extent}), l.literal_number(0)},
                     l.type().dtype);
}

int eye(Lowering& l) {
  const tensor::Shape shape = l.type().shape;
  const int on = l.pointwise("eq", {l.coordinate(shape[0], 0, 2), l.coordinate(shape[1], 1, 2)});
  return l.pointwise("where", {on, l.literal_number(1), l.literal_number(0)}, l.type().dtype);
}

int triangle(Lowering& l, const char* comparison) {
  const int operand = first(l);
  const tensor::Shape shape = l.at(operand).shape;
  const std::size_t rank = shape.size();
  const int row = l.coordinate(shape[rank - 2], rank - 2, rank), column = l.coordinate(shape[rank - 1], rank - 1, rank);
  const int shifted = l.pointwise("sub", {column, row});
  const int on = l.pointwise(
      comparison, {shifted, l.literal_number(l.given("diagonal") ? l.number("diagonal") : 0, tensor::Dtype::int64)});
  return l.pointwise("where", {on, operand, l.literal_number(0)}, l.type().dtype);
}
int triu(Lowering& l) { return triangle(l, "ge"); }
int tril(Lowering& l) { return triangle(l, "le"); }

}  // namespace

std::vector<LoweringRow> view_lowerings() {
  return {{"reshape", reshaped}, {"reshape_as", reshaped}, {"flatten", reshaped}, {"unflatten", reshaped},
          {"squeeze", reshaped}, {"unsqueeze", reshaped},  {"permute", permuted}, {"transpose", transposed},
          {"expand", expanded},  {"expand_as", expanded},  {"full", full},        {"full_like", full},
          {"diag", diag},        {"eye", eye},            {"triu", triu},         {"tril", tril},
          {"arange", arange}};
}

}  // namespace cudal1::algebra
