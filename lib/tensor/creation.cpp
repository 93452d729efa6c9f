// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::tensor {
namespace {

Dtype dtype_or(const Call& call, Dtype otherwise) { return parse_dtype(call.word("dtype")).value_or(otherwise); }

bool any_real(const Quantity& quantity) {
  return std::any_of(quantity.values.begin(), quantity.values.end(), [](const Number& n) { return n.real; });
}

Type full_type(const Call& call) {
  Type type{dtype_or(call, any_real(call.quantity("fill_value")) ? Dtype::float32 : Dtype::int64), {}};
  for (const Quantity& each : call.quantities("size")) type.shape.push_back(each.extent());
  return type;
}
Type full_like_type(const Call& call) {
  call.quantity("fill_value");
  return {dtype_or(call, call.type(0).dtype), call.type(0).shape};
}
void full(const Evaluation& e) {
  double value = e.call.number("fill_value");
  if (!is_floating(e.out.dtype)) value = e.out.dtype == Dtype::bool_ ? (value != 0 ? 1 : 0) : std::trunc(value);
  std::fill(e.out.values.begin(), e.out.values.end(), value);
}

Quantity start_of(const Call& call) { return call.has("end") ? call.quantity("start") : call.constant(0); }
Quantity end_of(const Call& call) { return call.quantity(call.has("end") ? "end" : "start"); }
Type arange_type(const Call& call) {
  const Quantity start = start_of(call), end = end_of(call), step = call.quantity("step");
  const bool real = any_real(start) || any_real(end) || any_real(step);
  Type type{dtype_or(call, real ? Dtype::float32 : Dtype::int64), {}};
  for (const Number& each : step.values)
    if (each.value == 0) throw Refusal("the step is zero");
  Quantity length = real ? call.constant(0) : ceil_div(end - start, step);
  for (std::size_t i = 0; i < length.values.size(); ++i) {
    const double count = std::ceil((end.values[i].value - start.values[i].value) / step.values[i].value);
    if (!(count >= 0 && count < 0x1p40)) throw Refusal("the end lies before the start, or too far away");
    length.values[i] = Number::of(static_cast<std::int64_t>(count));
  }
  if (real) length.text = std::to_string(length.values.front().integer);
  type.shape.push_back(length.extent());
  return type;
}
void arange(const Evaluation& e) {
  const double start = start_of(e.call).values[0].value, step = e.call.number("step");
  for (std::size_t i = 0; i < e.out.values.size(); ++i) e.out.values[i] = start + static_cast<double>(i) * step;
}
Type linspace_type(const Call& call) { return {dtype_or(call, Dtype::float32), {call.quantity("steps").extent()}}; }
void linspace(const Evaluation& e) {
  const double start = e.call.number("start"), end = e.call.number("end");
  const auto steps = e.out.values.size();
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  for (std::size_t i = 0; i < steps; ++i)
    e.out.values[i] = i < steps / 2 || steps == 1 ? start + static_cast<double>(i) * step : end - static_cast<double>(steps - 1 - i) * step;
}
Type eye_type(const Call& call) {
  const Quantity n = call.quantity("n");
  return {dtype_or(call, Dtype::float32), {n.extent(), (call.has("m") ? call.quantity("m") : n).extent()}};
}
void eye(const Evaluation& e) {
  for (std::int64_t i = 0; i < std::min(e.out.shape[0], e.out.shape[1]); ++i) e.out.values[static_cast<std::size_t>(i * e.out.shape[1] + i)] = 1;
}

double nothing(const Call&, const Type&) { return 0; }

}  // namespace

std::vector<Row> creation_rows() {
  return {
      {"full(size: ints, fill_value: number, dtype: dtype = None)", "torch", full_type, full, nothing},
      {"full_like(input, fill_value: number, dtype: dtype = None)", "torch", full_like_type, full, nothing},
      {"arange(start: number, end: number = None, step: number = 1, dtype: dtype = None)", "torch", arange_type, arange, nothing},
      {"linspace(start: number, end: number, steps: int, dtype: dtype = None)", "torch", linspace_type, linspace, nothing},
      {"eye(n: int, m: int = None, dtype: dtype = None)", "torch", eye_type, eye, nothing},
  };
}

}  // namespace cudal1::tensor
