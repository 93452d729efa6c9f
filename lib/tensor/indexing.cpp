// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

std::size_t existing_axis(const Call& call, std::string_view parameter = "dim") {
  const int count = rank(call.type(0));
  if (count == 0) throw Refusal("a tensor without dimensions cannot be indexed");
  return static_cast<std::size_t>(call.axis(parameter, count));
}

Quantity constant_or(const Call& call, std::string_view parameter, const Quantity& otherwise) {
  return call.has(parameter) ? call.quantity(parameter) : otherwise;
}

void remember_text(Quantity& quantity, const std::string& text) { quantity.text = text; }

Type select_type(const Call& call) {
  Type type = call.type(0);
  const std::size_t axis = existing_axis(call);
  const Quantity at = call.quantity("index");
  for (std::size_t i = 0; i < at.values.size(); ++i) {
    const std::int64_t extent = type.shape[axis].values[i], index = at.values[i].integer;
    if (at.values[i].real || index < -extent || index >= extent)
      throw Refusal(fmt::format("index {} is outside dimension {}, which has {}", at.text, axis, extent));
  }
  type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return type;
}
// The part [start, start + length) with a step, along an axis.
void take(const Evaluation& e, std::size_t axis, std::int64_t start, std::int64_t length, std::int64_t step) {
  const Array& in = *e.in[0];
  const Around from(in.shape, static_cast<int>(axis));
  for (std::int64_t outer = 0; outer < from.outer; ++outer)
    for (std::int64_t i = 0; i < length; ++i)
      std::copy_n(in.values.begin() + (outer * from.length + start + i * step) * from.inner, from.inner,
                  e.out.values.begin() + (outer * length + i) * from.inner);
}
void select(const Evaluation& e) {
  const std::size_t axis = existing_axis(e.call);
  std::int64_t index = e.call.integer("index");
  if (index < 0) index += e.in[0]->shape[axis];
  take(e, axis, index, 1, 1);
}

// Python's clamping of slice bounds at every assignment.
Quantity bound(const Quantity& value, const Quantity& extent) {
  Quantity result = value;
  bool from_end = true, inside = true;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const std::int64_t n = extent.values[i].integer;
    std::int64_t at = value.values[i].integer;
    from_end = from_end && at < 0 && at + n >= 0;
    if (at < 0) at += n;
    inside = inside && at == value.values[i].integer && at <= n;
    result.values[i] = Number::of(std::clamp<std::int64_t>(at, 0, n));
  }
  if (from_end) remember_text(result, (extent + value).text);
  else if (!inside) {
    const auto same = [&](const Quantity& other) {
      return std::equal(result.values.begin(), result.values.end(), other.values.begin(), [](const Number& a, const Number& b) { return a.integer == b.integer; });
    };
    const Quantity zero = Quantity::of(0, value.values.size());
    if (same(extent)) return extent;
    if (same(zero)) return zero;
    remember_text(result, minimum(value, extent).text);
  }
  return result;
}
Type slice_type(const Call& call) {
  Type type = call.type(0);
  const std::size_t axis = existing_axis(call);
  const Quantity extent = Quantity::of(type.shape[axis]);
  const Quantity start = bound(constant_or(call, "start", call.constant(0)), extent), end = bound(constant_or(call, "end", extent), extent);
  const Quantity step = call.quantity("step");
  for (const Number& value : step.values)
    if (value.real || value.integer < 1) throw Refusal("the step of a slice must be positive");
  Quantity length = ceil_div(maximum(end, start) - start, step);
  // The maximum matters only to an empty slice; leave it out of the text.
  const bool ordered = std::equal(start.values.begin(), start.values.end(), end.values.begin(), [](const Number& a, const Number& b) { return a.integer <= b.integer; });
  if (ordered) length = ceil_div(end - start, step);
  type.shape[axis] = length.extent();
  return type;
}
void slice(const Evaluation& e) {
  const std::size_t axis = existing_axis(e.call);
  const Quantity extent = e.call.extent(0, static_cast<int>(axis));
  const std::int64_t start = bound(constant_or(e.call, "start", e.call.constant(0)), extent).values[0].integer;
  take(e, axis, start, e.out.shape[axis], e.call.integer("step"));
}

Type narrow_type(const Call& call) {
  Type type = call.type(0);
  const std::size_t axis = existing_axis(call);
  const Quantity start = call.quantity("start"), length = call.quantity("length");
  for (std::size_t i = 0; i < start.values.size(); ++i)
    if (start.values[i].real || length.values[i].real || start.values[i].integer < 0 || length.values[i].integer < 0 ||
        start.values[i].integer > type.shape[axis].values[i] - length.values[i].integer)
      throw Refusal(fmt::format("[{}, {} + {}) is outside dimension {}", start.text, start.text, length.text, axis));
  type.shape[axis] = length.extent();
  return type;
}
void narrow(const Evaluation& e) {
  const std::size_t axis = existing_axis(e.call);
  take(e, axis, e.call.integer("start"), e.out.shape[axis], 1);
}

// Where part `index` of a split begins and how long it is.
std::pair<Quantity, Quantity> split_part(const Call& call, const Quantity& extent) {
  const std::vector<Quantity> sizes = call.quantities("split_size");
  const std::int64_t index = call.integer("index");
  const bool list = std::holds_alternative<std::vector<std::int64_t>>(call.node().attributes.at("split_size")) ? sizes.size() != 1 : sizes.size() > 1;
  Quantity start = call.constant(0);
  if (list) {
    Quantity total = call.constant(0);
    for (const Quantity& each : sizes) total = total + each;
    for (std::size_t i = 0; i < total.values.size(); ++i)
      if (total.values[i].integer != extent.values[i].integer) throw Refusal(fmt::format("the parts add up to {}, but the dimension is {}", total.text, extent.text));
    if (index < 0 || index >= static_cast<std::int64_t>(sizes.size())) throw Refusal(fmt::format("part {} does not exist", index));
    for (std::int64_t i = 0; i < index; ++i) start = start + sizes[static_cast<std::size_t>(i)];
    return {start, sizes[static_cast<std::size_t>(index)]};
  }
  if (sizes.empty()) throw Refusal("split_size is empty");
  start = sizes.front() * call.constant(index);
  Quantity length = sizes.front();
  bool whole = true;
  for (std::size_t i = 0; i < start.values.size(); ++i) {
    if (index < 0 || sizes.front().values[i].real || sizes.front().values[i].integer < 1 || start.values[i].integer >= extent.values[i].integer)
      throw Refusal(fmt::format("part {} does not exist", index));
    whole = whole && start.values[i].integer + length.values[i].integer <= extent.values[i].integer;
  }
  if (!whole) length = minimum(length, extent - start);
  return {start, length};
}
Type split_type(const Call& call) {
  Type type = call.type(0);
  const std::size_t axis = existing_axis(call);
  type.shape[axis] = split_part(call, Quantity::of(type.shape[axis])).second.extent();
  return type;
}
void split(const Evaluation& e) {
  const std::size_t axis = existing_axis(e.call);
  const auto [start, length] = split_part(e.call, e.call.extent(0, static_cast<int>(axis)));
  take(e, axis, start.values[0].integer, e.out.shape[axis], 1);
}
std::pair<Quantity, Quantity> chunk_part(const Call& call, const Quantity& extent) {
  const Quantity chunks = call.quantity("chunks");
  for (const Number& value : chunks.values)
    if (value.real || value.integer < 1) throw Refusal("chunks must be positive");
  const std::int64_t index = call.integer("index");
  bool divides = true;
  for (std::size_t i = 0; i < chunks.values.size(); ++i) divides = divides && extent.values[i].integer % chunks.values[i].integer == 0;
  Quantity size = divides ? extent / chunks : ceil_div(extent, chunks);
  const Quantity start = size * call.constant(index);
  for (std::size_t i = 0; i < start.values.size(); ++i)
    if (index < 0 || start.values[i].integer >= std::max<std::int64_t>(extent.values[i].integer, 1)) throw Refusal(fmt::format("part {} does not exist", index));
  if (!divides) size = minimum(size, extent - start);
  return {start, size};
}
Type chunk_type(const Call& call) {
  Type type = call.type(0);
  const std::size_t axis = existing_axis(call);
  type.shape[axis] = chunk_part(call, Quantity::of(type.shape[axis])).second.extent();
  return type;
}
void chunk(const Evaluation& e) {
  const std::size_t axis = existing_axis(e.call);
  const auto [start, length] = chunk_part(e.call, e.call.extent(0, static_cast<int>(axis)));
  take(e, axis, start.values[0].integer, e.out.shape[axis], 1);
}

void need_integers(const Call& call, int operand) {
  if (is_floating(call.type(operand).dtype) || call.type(operand).dtype == Dtype::bool_) throw Refusal("the indices must be integers");
}
std::int64_t checked(double value, std::int64_t extent) {
  if (!(std::abs(value) < 0x1p62)) throw Refusal("an index is out of range");
  const auto index = static_cast<std::int64_t>(value);
  if (index < -extent || index >= extent) throw Refusal(fmt::format("index {} is outside a dimension of {}", index, extent));
  return index < 0 ? index + extent : index;
}

// The indexed dimension gives way to all dimensions of the indices.
Type index_type(const Call& call) {
  Type type = call.type(0);
  need_integers(call, 1);
  const auto axis = static_cast<std::ptrdiff_t>(existing_axis(call));
  type.shape.erase(type.shape.begin() + axis);
  const Shape& indices = call.type(1).shape;
  type.shape.insert(type.shape.begin() + axis, indices.begin(), indices.end());
  return type;
}
void index(const Evaluation& e) {
  const Array &in = *e.in[0], &indices = *e.in[1];
  const Around from(in.shape, static_cast<int>(existing_axis(e.call)));
  const auto count = static_cast<std::int64_t>(indices.values.size());
  std::vector<std::int64_t> at;
  for (const double value : indices.values) at.push_back(checked(value, from.length));
  for (std::int64_t outer = 0; outer < from.outer; ++outer)
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(in.values.begin() + (outer * from.length + at[static_cast<std::size_t>(i)]) * from.inner, from.inner,
                  e.out.values.begin() + (outer * count + i) * from.inner);
}

Type gather_type(const Call& call) {
  need_integers(call, 1);
  const Shape &in = call.type(0).shape, &indices = call.type(1).shape;
  if (in.size() != indices.size()) throw Refusal("the indices and the input differ in their number of dimensions");
  const auto axis = static_cast<std::size_t>(call.axis("dim", rank(call.type(0))));
  for (std::size_t k = 0; k < in.size(); ++k)
    for (std::size_t i = 0; i < in[k].values.size() && k != axis; ++i)
      if (indices[k].values[i] > in[k].values[i]) throw Refusal(fmt::format("the indices exceed dimension {} of the input", k));
  return {call.type(0).dtype, indices};
}
// Visits every index of `indices` with the offset, in a tensor shaped `shape`, of the element it names.
template <typename Visit>
void for_indices(const Array& indices, const Extents& shape, int axis, Visit visit) {
  const Extents steps = strides(shape);
  std::vector<std::int64_t> at(indices.shape.size());
  for (std::size_t i = 0; i < indices.values.size(); ++i) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < at.size(); ++k)
      offset += steps[k] * (static_cast<int>(k) == axis ? checked(indices.values[i], shape[k]) : at[k]);
    visit(i, static_cast<std::size_t>(offset), at);
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < indices.shape[k]) break;
      at[k] = 0;
    }
  }
}
void gather(const Evaluation& e) {
  const Array& in = *e.in[0];
  for_indices(*e.in[1], in.shape, e.call.axis("dim", static_cast<int>(in.shape.size())),
              [&](std::size_t i, std::size_t offset, const auto&) { e.out.values[i] = in.values[offset]; });
}
Type scatter_type(const Call& call) {
  Type type = gather_type(call);
  const Shape &indices = type.shape, &source = call.type(2).shape;
  if (!source.empty()) {
    if (source.size() != indices.size()) throw Refusal("the source and the indices differ in their number of dimensions");
    for (std::size_t k = 0; k < indices.size(); ++k)
      for (std::size_t i = 0; i < indices[k].values.size(); ++i)
        if (indices[k].values[i] > source[k].values[i]) throw Refusal(fmt::format("the indices exceed dimension {} of the source", k));
  }
  return call.type(0);
}
template <bool add>
void scatter(const Evaluation& e) {
  const Array& source = *e.in[2];
  e.out.values = e.in[0]->values;
  const Extents steps = strides(source.shape);
  for_indices(*e.in[1], e.out.shape, e.call.axis("dim", static_cast<int>(e.out.shape.size())),
              [&](std::size_t, std::size_t offset, const std::vector<std::int64_t>& at) {
                std::int64_t from = 0;
                for (std::size_t k = 0; k < steps.size(); ++k) from += at[k] * steps[k];
                const double value = source.values[static_cast<std::size_t>(from)];
                e.out.values[offset] = add ? e.out.values[offset] + value : value;
              });
}

Type one_hot_type(const Call& call) {
  need_integers(call, 0);
  Type type{Dtype::int64, call.type(0).shape};
  for (const Number& value : call.quantity("num_classes").values)
    if (value.real || value.integer < 1) throw Refusal("num_classes must be given and positive");
  type.shape.push_back(call.quantity("num_classes").extent());
  return type;
}
void one_hot(const Evaluation& e) {
  const std::int64_t classes = e.out.shape.back();
  for (std::size_t i = 0; i < e.in[0]->values.size(); ++i) {
    const double value = e.in[0]->values[i];
    if (value < 0) throw Refusal("a class is negative");
    e.out.values[i * static_cast<std::size_t>(classes) + static_cast<std::size_t>(checked(value, classes))] = 1;
  }
}

double nothing(const Call&, const Type&) { return 0; }

}  // namespace

std::vector<Row> indexing_rows() {
  return {
      {"select(input, dim: int, index: int)", "torch .", select_type, select, nothing},
      {"slice(input, dim: int, start: int = None, end: int = None, step: int = 1)", "", slice_type, slice, nothing},
      {"narrow(input, dim: int, start: int, length: int)", "torch .", narrow_type, narrow, nothing},
      {"split(input, split_size: ints, dim: int = 0, index: int = 0)", "", split_type, split, nothing},
      {"chunk(input, chunks: int, dim: int = 0, index: int = 0)", "", chunk_type, chunk, nothing},
      {"index(input, indices, dim: int = 0)", "", index_type, index, nothing},
      {"gather(input, index, dim: int)", "", gather_type, gather, nothing},
      {"scatter(input, index, src, dim: int)", "", scatter_type, scatter<false>, nothing},
      {"scatter_add(input, index, src, dim: int)", "", scatter_type, scatter<true>},
      {"one_hot(input, num_classes: int)", "F", one_hot_type, one_hot, nothing},
  };
}

}  // namespace cudal1::tensor
