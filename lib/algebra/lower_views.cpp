// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>
#include <numeric>

namespace cudal1::algebra {
namespace {

// X.T has no dimensions: all are reversed.
int permuted(Lowering& l) {
  std::vector<int> dims = l.order("dims", l.at(l.input()).shape.size());
  if (!l.given("dims")) std::reverse(dims.begin(), dims.end());
  return l.permute(l.input(), dims);
}

int transposed(Lowering& l) {
  const std::size_t rank = l.at(l.input()).shape.size();
  std::vector<int> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  const auto axis = [&](const char* name) { return static_cast<std::size_t>(l.order(name, rank).at(0)); };
  std::swap(dims.at(axis("dim0")), dims.at(axis("dim1")));
  return l.permute(l.input(), dims);
}

// Where each element stands, in steps from a start.
int arange(Lowering& l) {
  const tensor::Dtype dtype = l.type().dtype;
  const double start = l.given("end") ? l.number_of("start") : 0, step = l.given("step") ? l.number_of("step") : 1;
  int result = l.pointwise("identity", {l.coordinate(l.type().shape[0], 0, 1)}, dtype);
  if (step != 1) result = l.pointwise("mul", {result, l.literal_number(step, dtype)}, dtype);
  return start == 0 ? result : l.pointwise("add", {result, l.literal_number(start, dtype)}, dtype);
}

// `value` where the row is the column, and zeros else: the coordinates decide.
int on_diagonal(Lowering& l, int value) {
  const tensor::Shape shape = l.type().shape;
  const int on = l.pointwise("eq", {l.coordinate(shape[0], 0, 2), l.coordinate(shape[1], 1, 2)});
  return l.pointwise("where", {on, value, l.literal_number(0)}, l.type().dtype);
}

int diag(Lowering& l) {
  const tensor::Shape shape = l.at(l.input()).shape;
  if (shape.size() != 1 || (l.given("diagonal") && l.integer("diagonal") != 0))
    throw NotCovered{"torch.diag of anything but a vector is not covered by the playbook"};
  return on_diagonal(l, l.reshape(l.input(), {l.one(), shape[0]}));
}

int triangle(Lowering& l, const char* comparison) {
  const tensor::Shape shape = l.at(l.input()).shape;
  const std::size_t rank = shape.size();
  const int row = l.coordinate(shape[rank - 2], rank - 2, rank), column = l.coordinate(shape[rank - 1], rank - 1, rank);
  const int diagonal = l.literal_number(l.given("diagonal") ? l.number_of("diagonal") : 0, tensor::Dtype::int64);
  const int on = l.pointwise(comparison, {l.pointwise("sub", {column, row}), diagonal});
  return l.pointwise("where", {on, l.input(), l.literal_number(0)}, l.type().dtype);
}

}  // namespace

std::vector<LoweringRow> view_lowerings() {
  std::vector<LoweringRow> rows{
      {"permute", permuted},
      {"transpose", transposed},
      {"diag", diag},
      {"arange", arange},
      {"eye", [](Lowering& l) { return on_diagonal(l, l.literal_number(1)); }},
      {"triu", [](Lowering& l) { return triangle(l, "ge"); }},
      {"tril", [](Lowering& l) { return triangle(l, "le"); }},
  };
  for (const char* name : {"reshape", "reshape_as", "flatten", "unflatten", "squeeze", "unsqueeze"})
    rows.push_back({name, [](Lowering& l) { return l.reshape(l.input(), l.type().shape); }});
  for (const char* name : {"expand", "expand_as"}) rows.push_back({name, [](Lowering& l) { return l.expand(l.input(), l.type().shape); }});
  for (const char* name : {"full", "full_like"}) rows.push_back({name, [](Lowering& l) { return l.expand(l.given_number("fill_value"), l.type().shape); }});
  return rows;
}

}  // namespace cudal1::algebra
