// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::tensor {

std::vector<int> permutation(const Node& node, int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (node.function == "transpose") {
    const auto* a = std::get_if<std::int64_t>(&node.attributes.at("dim0"));
    const auto* b = std::get_if<std::int64_t>(&node.attributes.at("dim1"));
    if (a == nullptr || b == nullptr) throw Refusal("the dimensions of a transpose must be literal integers");
    if (rank > 0) std::swap(order[static_cast<std::size_t>(Call::axis(*a, rank))], order[static_cast<std::size_t>(Call::axis(*b, rank))]);
    return order;
  }
  const Attribute& dims = node.attributes.at("dims");
  if (std::holds_alternative<std::monostate>(dims)) {
    std::reverse(order.begin(), order.end());
    return order;
  }
  const auto* list = std::get_if<std::vector<std::int64_t>>(&dims);
  if (list == nullptr || static_cast<int>(list->size()) != rank) throw Refusal(fmt::format("dims must name each of the {} dimensions", rank));
  std::vector<char> seen(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < list->size(); ++i) {
    order[i] = Call::axis((*list)[i], rank);
    if (seen[static_cast<std::size_t>(order[i])]++ != 0) throw Refusal("dims names a dimension twice");
  }
  return order;
}

namespace {

Type permuted_type(const Call& call) {
  Type type{call.type(0).dtype, {}};
  for (const int axis : permutation(call.node(), rank(call.type(0)))) type.shape.push_back(call.type(0).shape[static_cast<std::size_t>(axis)]);
  return type;
}
void permute(const Evaluation& e) {
  e.out.values = permuted(*e.in[0], permutation(e.call.node(), static_cast<int>(e.in[0]->shape.size()))).values;
}
void copy(const Evaluation& e) { e.out.values = e.in[0]->values; }

Quantity product(const Call& call, const Shape& shape) {
  Quantity result = call.constant(1);
  for (const Extent& extent : shape) result = result * Quantity::of(extent);
  return result;
}
bool all_equal(const Quantity& q, std::int64_t value) {
  return std::all_of(q.values.begin(), q.values.end(), [&](const Number& n) { return !n.real && n.integer == value; });
}
std::int64_t element_count(const Shape& shape, std::size_t at) {
  std::int64_t count = 1;
  for (const Extent& extent : shape) count *= extent.values[at];
  return count;
}

// The extents asked for, with one -1 among them worked out.
Type reshape_to(const Call& call, std::vector<Quantity> wanted) {
  const Shape& from = call.type(0).shape;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!all_equal(wanted[i], -1)) continue;
    if (open >= 0) throw Refusal("the new shape holds -1 twice");
    open = static_cast<std::ptrdiff_t>(i);
  }
  if (open >= 0) {
    // Extents that stand on both sides cancel, so that the text stays readable.
    std::vector<Quantity> left, right;
    for (const Extent& extent : from) left.push_back(Quantity::of(extent));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (static_cast<std::ptrdiff_t>(i) == open) continue;
      const auto same = std::find_if(left.begin(), left.end(), [&](const Quantity& q) { return q.text == wanted[i].text; });
      if (same != left.end()) left.erase(same);
      else right.push_back(wanted[i]);
    }
    Quantity total = call.constant(1), divisor = call.constant(1);
    for (const Quantity& q : left) total = total * q;
    for (const Quantity& q : right) divisor = divisor * q;
    for (std::size_t at = 0; at < call.assignments(); ++at)
      if (divisor.values[at].value == 0 || total.values[at].real || divisor.values[at].real || total.values[at].integer % divisor.values[at].integer != 0)
        throw Refusal(fmt::format("{} cannot be reshaped: {} does not divide its elements", to_string(from), divisor.text));
    wanted[static_cast<std::size_t>(open)] = total / divisor;
  }
  Type type{call.type(0).dtype, {}};
  for (const Quantity& each : wanted) type.shape.push_back(each.extent());
  for (std::size_t at = 0; at < call.assignments(); ++at) {
    double count = 1;
    for (const Extent& extent : type.shape) count *= static_cast<double>(extent.values[at]);
    if (count != static_cast<double>(element_count(from, at))) throw Refusal(fmt::format("{} cannot be reshaped to {}", to_string(from), to_string(type.shape)));
  }
  return type;
}
Type reshape_type(const Call& call) { return reshape_to(call, call.quantities("shape")); }
Type reshape_as_type(const Call& call) {
  std::vector<Quantity> wanted;
  for (const Extent& extent : call.type(1).shape) wanted.push_back(Quantity::of(extent));
  return reshape_to(call, wanted);
}
Type flatten_type(const Call& call) {
  const Shape& from = call.type(0).shape;
  const int first = call.axis("start_dim", rank(call.type(0))), last = call.axis("end_dim", rank(call.type(0)));
  if (first > last) throw Refusal("start_dim lies behind end_dim");
  Type type{call.type(0).dtype, {}};
  if (from.empty()) {
    type.shape.push_back(call.constant(1).extent());
    return type;
  }
  const auto begin = from.begin() + first, end = from.begin() + last + 1;
  type.shape.assign(from.begin(), begin);
  type.shape.push_back(product(call, Shape(begin, end)).extent());
  type.shape.insert(type.shape.end(), end, from.end());
  return type;
}
Type unflatten_type(const Call& call) {
  const Shape& from = call.type(0).shape;
  const int axis = call.axis("dim", rank(call.type(0)));
  if (from.empty()) throw Refusal("the input has no dimension to unflatten");
  std::vector<Quantity> wanted;
  for (int i = 0; i < static_cast<int>(from.size()); ++i) {
    if (i != axis) wanted.push_back(Quantity::of(from[static_cast<std::size_t>(i)]));
    else
      for (const Quantity& each : call.quantities("sizes")) wanted.push_back(each);
  }
  return reshape_to(call, wanted);
}
Type squeeze_type(const Call& call) {
  const Shape& from = call.type(0).shape;
  const std::vector<int> axes = call.axes("dim", rank(call.type(0)));
  Type type{call.type(0).dtype, {}};
  for (int i = 0; i < static_cast<int>(from.size()); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), i) || !is_one(from[static_cast<std::size_t>(i)])) type.shape.push_back(from[static_cast<std::size_t>(i)]);
  return type;
}
Type unsqueeze_type(const Call& call) {
  Type type = call.type(0);
  const int axis = call.axis("dim", rank(type) + 1);
  type.shape.insert(type.shape.begin() + axis, call.constant(1).extent());
  return type;
}

Type expand_to(const Call& call, std::vector<Quantity> wanted) {
  const Shape& from = call.type(0).shape;
  if (wanted.size() < from.size()) throw Refusal(fmt::format("{} has more dimensions than it is expanded to", to_string(from)));
  Type type{call.type(0).dtype, {}};
  const std::size_t front = wanted.size() - from.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (all_equal(wanted[i], -1)) {
      if (i < front) throw Refusal("a new dimension cannot be -1");
      wanted[i] = Quantity::of(from[i - front]);
    }
    type.shape.push_back(wanted[i].extent());
    if (i >= front && !(from[i - front] == type.shape.back()) && !is_one(from[i - front]))
      throw Refusal(fmt::format("{} cannot be expanded: dimension {} is {}, not 1", to_string(from), i - front, from[i - front].text));
  }
  return type;
}
Type expand_type(const Call& call) { return expand_to(call, call.quantities("sizes")); }
Type expand_as_type(const Call& call) {
  std::vector<Quantity> wanted;
  for (const Extent& extent : call.type(1).shape) wanted.push_back(Quantity::of(extent));
  return expand_to(call, wanted);
}
void expand(const Evaluation& e) {
  const Extents steps = broadcast_strides(e.in[0]->shape, e.out.shape);
  const std::int64_t length = e.out.shape.empty() ? 1 : e.out.shape.back(), step = steps.empty() ? 0 : steps.back();
  for_rows(e.out.shape, {steps}, e.threads, [&](std::int64_t row, const std::int64_t* at) {
    for (std::int64_t i = 0; i < length; ++i) e.out.values[static_cast<std::size_t>(row + i)] = e.in[0]->values[static_cast<std::size_t>(at[0] + i * step)];
  });
}

Type repeat_type(const Call& call) {
  const std::vector<Quantity> times = call.quantities("repeats");
  const Shape& from = call.type(0).shape;
  if (times.size() < from.size()) throw Refusal("repeats needs a number for each dimension");
  Type type{call.type(0).dtype, {}};
  const std::size_t front = times.size() - from.size();
  for (std::size_t i = 0; i < times.size(); ++i) type.shape.push_back((i < front ? times[i] : Quantity::of(from[i - front]) * times[i]).extent());
  return type;
}
// Copies element by element, with the source found by `source(axis, index)`; for functions that only move data.
template <typename Source>
void move(const Evaluation& e, const Array& in, Source source) {
  const Extents own = strides(in.shape);
  const std::size_t rank = e.out.shape.size(), front = rank - in.shape.size();
  if (e.out.values.empty()) return;
  // Per axis, the offset that each index of the result adds.
  std::vector<Extents> offsets(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    for (std::int64_t i = 0; i < e.out.shape[axis]; ++i) offsets[axis].push_back(axis < front ? 0 : source(axis - front, i) * own[axis - front]);
  std::vector<std::int64_t> index(rank);
  for (double& value : e.out.values) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) offset += offsets[axis][static_cast<std::size_t>(index[axis])];
    value = in.values[static_cast<std::size_t>(offset)];
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < e.out.shape[axis]) break;
      index[axis] = 0;
    }
  }
}
void repeat(const Evaluation& e) {
  const Array& in = *e.in[0];
  move(e, in, [&](std::size_t axis, std::int64_t i) { return i % in.shape[axis]; });
}
Type repeat_interleave_type(const Call& call) {
  Type type = call.type(0);
  const auto axis = static_cast<std::size_t>(call.axis("dim", rank(type)));
  if (type.shape.empty()) throw Refusal("the input has no dimension to repeat");
  type.shape[axis] = (Quantity::of(type.shape[axis]) * call.quantity("repeats")).extent();
  return type;
}
void repeat_interleave(const Evaluation& e) {
  const auto along = static_cast<std::size_t>(e.call.axis("dim", static_cast<int>(e.in[0]->shape.size())));
  const std::int64_t times = e.call.integer("repeats");
  move(e, *e.in[0], [&](std::size_t axis, std::int64_t i) { return axis == along ? i / times : i; });
}
Type flip_type(const Call& call) { return call.axes("dims", rank(call.type(0))), call.type(0); }
void flip(const Evaluation& e) {
  const Array& in = *e.in[0];
  const std::vector<int> axes = e.call.axes("dims", static_cast<int>(in.shape.size()));
  move(e, in, [&](std::size_t axis, std::int64_t i) {
    return std::binary_search(axes.begin(), axes.end(), static_cast<int>(axis)) ? in.shape[axis] - 1 - i : i;
  });
}
Type roll_type(const Call& call) {
  const std::vector<std::int64_t> dims = call.integers("dims");
  if (dims.empty()) throw Refusal("roll needs dims");
  if (call.quantities("shifts").size() != dims.size()) throw Refusal("shifts and dims differ in length");
  for (const std::int64_t dim : dims) Call::axis(dim, rank(call.type(0)));
  return call.type(0);
}
void roll(const Evaluation& e) {
  const Array& in = *e.in[0];
  const std::vector<std::int64_t> shifts = e.call.integers("shifts"), dims = e.call.integers("dims");
  Extents shift(in.shape.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto axis = static_cast<std::size_t>(Call::axis(dims[i], static_cast<int>(in.shape.size())));
    if (axis < shift.size() && in.shape[axis] > 0) shift[axis] = (shift[axis] + shifts[i] % in.shape[axis] + in.shape[axis]) % in.shape[axis];
  }
  move(e, in, [&](std::size_t axis, std::int64_t i) { return (i - shift[axis] + in.shape[axis]) % in.shape[axis]; });
}

Type cat_type(const Call& call) {
  std::vector<int> all;
  Type type = call.type(0);
  const int axis = call.axis("dim", rank(type));
  if (type.shape.empty()) throw Refusal("tensors without dimensions cannot be concatenated; use torch.stack");
  Quantity total = call.constant(0);
  for (int i = 0; i < call.operands(); ++i) {
    all.push_back(i);
    const Shape& shape = call.type(i).shape;
    if (shape.size() != type.shape.size()) throw Refusal("the tensors differ in their number of dimensions");
    for (int k = 0; k < rank(type); ++k)
      if (k != axis && !(shape[static_cast<std::size_t>(k)] == type.shape[static_cast<std::size_t>(k)]))
        throw Refusal(fmt::format("the shapes {} and {} do not fit", to_string(type.shape), to_string(shape)));
    total = total + call.extent(i, axis);
  }
  type.dtype = promoted(call, all);
  type.shape[static_cast<std::size_t>(axis)] = total.extent();
  return type;
}
void join_along(const Evaluation& e, int axis) {
  const Around to(e.out.shape, axis);
  std::int64_t start = 0;
  for (const Array* in : e.in) {
    // A stacked tensor has no such axis: it fills one place of it.
    const std::int64_t length = in->shape.size() == e.out.shape.size() ? in->shape[static_cast<std::size_t>(axis)] : 1;
    for (std::int64_t outer = 0; outer < to.outer; ++outer)
      std::copy_n(in->values.begin() + outer * length * to.inner, length * to.inner, e.out.values.begin() + (outer * to.length + start) * to.inner);
    start += length;
  }
}
void cat(const Evaluation& e) { join_along(e, e.call.axis("dim", static_cast<int>(e.out.shape.size()))); }
Type stack_type(const Call& call) {
  Type type = call.type(0);
  std::vector<int> all;
  for (int i = 0; i < call.operands(); ++i) {
    all.push_back(i);
    if (!(call.type(i).shape == type.shape)) throw Refusal(fmt::format("the shapes {} and {} differ", to_string(type.shape), to_string(call.type(i).shape)));
  }
  type.dtype = promoted(call, all);
  type.shape.insert(type.shape.begin() + call.axis("dim", rank(type) + 1), call.constant(call.operands()).extent());
  return type;
}

double nothing(const Call&, const Type&) { return 0; }

}  // namespace

std::vector<Row> shape_rows() {
  return {
      {"permute(input, dims: ints)", "torch .", permuted_type, permute, nothing},
      {"transpose(input, dim0: int, dim1: int)", "torch . torch.swapaxes torch.swapdims .swapaxes .swapdims", permuted_type, permute, nothing},
      {"reshape(input, shape: ints)", "torch . .view", reshape_type, copy, nothing},
      {"reshape_as(input, other)", ". .view_as", reshape_as_type, copy, nothing},
      {"flatten(input, start_dim: int = 0, end_dim: int = -1)", "torch .", flatten_type, copy, nothing},
      {"unflatten(input, dim: int, sizes: ints)", "torch .", unflatten_type, copy, nothing},
      {"squeeze(input, dim: ints = None)", "torch .", squeeze_type, copy, nothing},
      {"unsqueeze(input, dim: int)", "torch .", unsqueeze_type, copy, nothing},
      {"expand(input, sizes: ints)", ". torch.broadcast_to .broadcast_to", expand_type, expand, nothing},
      {"expand_as(input, other)", ".", expand_as_type, expand, nothing},
      {"repeat(input, repeats: ints)", ". torch.tile .tile", repeat_type, repeat, nothing},
      {"repeat_interleave(input, repeats: int, dim: int)", "torch .", repeat_interleave_type, repeat_interleave, nothing},
      {"flip(input, dims: ints)", "torch .", flip_type, flip, nothing},
      {"roll(input, shifts: ints, dims: ints)", "torch .", roll_type, roll, nothing},
      {"cat(operands: tensors, dim: int = 0)", "torch torch.concat torch.concatenate", cat_type, cat, nothing},
      {"stack(operands: tensors, dim: int = 0)", "torch", stack_type, cat, nothing},
  };
}

}  // namespace cudal1::tensor
