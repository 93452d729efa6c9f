// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/dag.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

tensor::Extent minus(const tensor::Extent& a, const tensor::Extent& b) {
  tensor::Extent result{fmt::format("{} - {}", a.text, in_parentheses(b.text)), a.values};
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] -= b.values[i];
  return result;
}

// `dim` padded by `before` and `after` elements.
int padded(Lowering& l, int operand, std::size_t dim, const tensor::Extent& before, const tensor::Extent& after) {
  const tensor::Extent none = literal(0, l.assignments()), one = l.one(), extent = l.at(operand).shape[dim];
  const std::string mode = l.word("mode");
  const auto part = [&](const tensor::Extent& count, bool front) {
    tensor::Shape shape = l.at(operand).shape;
    shape[dim] = count;
    if (mode == "reflect") return l.slice(operand, dim, front ? count : minus(extent, literal(2, l.assignments())), count, -1);
    if (mode == "circular") return l.slice(operand, dim, front ? minus(extent, count) : none, count);
    if (mode == "replicate") return l.expand(l.slice(operand, dim, front ? none : minus(extent, one), one), shape);
    return l.expand(l.literal_number(l.given("value") ? l.number_of("value") : 0, l.at(operand).dtype), shape);
  };
  std::vector<int> parts;
  if (!is_zero(before)) parts.push_back(part(before, true));
  parts.push_back(operand);
  if (!is_zero(after)) parts.push_back(part(after, false));
  return l.cat(parts, dim);
}

int pad(Lowering& l) {
  int result = l.input();
  const std::size_t rank = l.type().shape.size();
  const auto pads = l.extents("pad");
  for (const tensor::Extent& each : pads)
    if (std::any_of(each.values.begin(), each.values.end(), [](std::int64_t value) { return value < 0; })) throw NotCovered{"padding that takes elements away"};
  for (std::size_t i = 0; i < pads.size() / 2; ++i) result = padded(l, result, rank - 1 - i, pads[2 * i], pads[2 * i + 1]);
  return result;
}

// From the end when negative.
tensor::Extent position(const tensor::Extent& at, const tensor::Extent& extent) {
  const auto negative = [](std::int64_t value) { return value < 0; };
  if (std::none_of(at.values.begin(), at.values.end(), negative)) return at;
  if (!std::all_of(at.values.begin(), at.values.end(), negative)) throw NotCovered{"a position from the end at some sizes only"};
  return plus(extent, at);
}

int roll(Lowering& l) {
  int result = l.input();
  const std::vector<int> dims = l.order("dims", l.type().shape.size());
  const auto shifts = l.extents("shifts", dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto dim = static_cast<std::size_t>(dims[i]);
    const tensor::Extent extent = l.at(result).shape[dim], none = literal(0, l.assignments());
    if (is_zero(shifts[i])) continue;
    const tensor::Extent shift = position(shifts[i], extent);
    for (std::size_t k = 0; k < shift.values.size(); ++k)
      if (shift.values[k] < 0 || shift.values[k] >= extent.values[k]) throw NotCovered{"torch.roll by more than the dimension has"};
    const tensor::Extent kept = minus(extent, shift);
    result = l.cat({l.slice(result, dim, kept, shift), l.slice(result, dim, none, kept)}, dim);
  }
  return result;
}

// Every element of `dim`, `count` times side by side or, as a whole, one after the other.
int repeated(Lowering& l, int operand, std::size_t dim, const tensor::Extent& count, bool side_by_side) {
  if (is_one(count)) return operand;
  tensor::Shape shape = l.at(operand).shape;
  const auto at = static_cast<std::ptrdiff_t>(dim) + (side_by_side ? 1 : 0);
  shape.insert(shape.begin() + at, l.one());
  const int apart = l.reshape(operand, shape);
  shape[static_cast<std::size_t>(at)] = count;
  const int many = l.expand(apart, shape);
  shape.erase(shape.begin() + at);
  shape[dim] = times(shape[dim], count);
  return l.reshape(many, shape);
}

int repeat_interleave(Lowering& l) {
  return repeated(l, l.input(), l.axis(l.type().shape.size()), l.extent("repeats"), true);
}

int repeat(Lowering& l) {
  const std::size_t rank = l.type().shape.size(), own = l.at(l.input()).shape.size();
  const auto counts = l.extents("repeats", rank);
  tensor::Shape shape = l.at(l.input()).shape;
  shape.insert(shape.begin(), rank - own, l.one());
  int result = l.reshape(l.input(), shape);
  for (std::size_t i = 0; i < rank; ++i) result = repeated(l, result, i, counts[i], false);
  return result;
}

int interpolate(Lowering& l) {
  int result = l.input();
  const tensor::Shape in = l.at(result).shape, out = l.type().shape;
  for (std::size_t i = 2; i < out.size(); ++i) {
    if (in[i] == out[i]) continue;
    const std::int64_t factor = out[i].values[0] / in[i].values[0];
    const bool whole = !l.given("scale_factor") || l.number_of("scale_factor") == static_cast<double>(factor);
    for (std::size_t k = 0; k < out[i].values.size(); ++k)
      if (!whole || out[i].values[k] != in[i].values[k] * factor) throw NotCovered{"torch.interpolate by a factor that is not whole"};
    result = repeated(l, result, i, literal(factor, l.assignments()), true);
  }
  return result;
}

// [..., c * r * r, h, w] and [..., c, h * r, w * r].
int shuffle(Lowering& l, bool up) {
  const tensor::Extent r = l.extent(up ? "upscale_factor" : "downscale_factor");
  const tensor::Shape coarse = up ? l.at(l.input()).shape : l.type().shape, fine = up ? l.type().shape : l.at(l.input()).shape;
  const std::size_t c = fine.size() - 3;
  tensor::Shape shape(fine.begin(), fine.begin() + static_cast<std::ptrdiff_t>(c));
  std::vector<int> dims;
  for (std::size_t i = 0; i < c; ++i) dims.push_back(static_cast<int>(i));
  const int at = static_cast<int>(c);
  if (up) {
    shape.insert(shape.end(), {fine[c], r, r, coarse[c + 1], coarse[c + 2]});
    dims.insert(dims.end(), {at, at + 3, at + 1, at + 4, at + 2});
  } else {
    shape.insert(shape.end(), {fine[c], coarse[c + 1], r, coarse[c + 2], r});
    dims.insert(dims.end(), {at, at + 2, at + 4, at + 1, at + 3});
  }
  return l.reshape(l.permute(l.reshape(l.input(), shape), dims), l.type().shape);
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

// As many elements of the call's dimension as its result has, from `start` on.
int elements_from(Lowering& l, const tensor::Extent& start) {
  const std::size_t dim = l.axis(l.type().shape.size());
  return l.slice(l.input(), dim, start, l.type().shape[dim]);
}

int narrow(Lowering& l) { return elements_from(l, position(l.extent("start"), l.at(l.input()).shape[l.axis(l.type().shape.size())])); }

int chunk(Lowering& l) {
  const tensor::Extent& whole = l.at(l.input()).shape[l.axis(l.type().shape.size())];
  const std::int64_t chunks = l.integer("chunks"), index = l.integer("index");
  const auto start = [&](std::int64_t value) { return ceil_div(value, chunks) * index; };
  return elements_from(l, changed(whole, fmt::format("ceil_div({}, {}) * {}", whole.text, chunks, index), start));
}

int split(Lowering& l) { return elements_from(l, times(l.extent("split_size"), literal(l.integer("index"), l.assignments()))); }

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

int one_hots(Lowering& l) {
  const std::size_t rank = l.type().shape.size();
  const int hit = l.pointwise("eq", {l.coordinate(l.type().shape.back(), rank - 1, rank), l.behind(l.input(), rank)});
  return l.pointwise("where", {hit, l.literal_number(1, tensor::Dtype::int64), l.literal_number(0, tensor::Dtype::int64)}, tensor::Dtype::int64);
}

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

std::vector<LoweringRow> place_lowerings() {
  std::vector<LoweringRow> rows{
      {"pad", pad}, {"roll", roll}, {"repeat", repeat}, {"repeat_interleave", repeat_interleave}, {"interpolate", interpolate},
      {"pixel_shuffle", [](Lowering& l) { return shuffle(l, true); }}, {"pixel_unshuffle", [](Lowering& l) { return shuffle(l, false); }},
      {"slice", slice}, {"select", select}, {"narrow", narrow}, {"chunk", chunk}, {"split", split}, {"flip", flip}, {"cat", cat}, {"stack", cat},
      {"index", named_parts}, {"one_hot", one_hots}, {"permute", permuted}, {"transpose", transposed}, {"diag", diag}, {"arange", arange},
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
