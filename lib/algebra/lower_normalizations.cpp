// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <numeric>

namespace cudal1::algebra {
namespace {

int softmax(Lowering& l) {
  const std::vector<int> dims = l.axes("dim");
  const int powers = l.pointwise("exp", {l.pointwise("sub", {l.input(), l.reduce("max", l.input(), dims)})});
  // The sum is at least one, so that its reciprocal is as good as a division of every element.
  return l.pointwise("mul", {powers, l.pointwise("reciprocal", {l.sum(powers, dims)})});
}

int log_softmax(Lowering& l) {
  const std::vector<int> dims = l.axes("dim");
  const int shifted = l.pointwise("sub", {l.input(), l.reduce("max", l.input(), dims)});
  return l.pointwise("sub", {shifted, l.pointwise("log", {l.sum(l.pointwise("exp", {shifted}), dims)})});
}

// value / sqrt(variance + eps)
int divided(Lowering& l, int value, int variance, int eps) {
  return l.pointwise("mul", {value, l.pointwise("rsqrt", {l.pointwise("add", {variance, eps})})});
}

// (x - mean) / sqrt(variance + eps) over `dims`, in two passes over what is then in registers.
int normalized(Lowering& l, int operand, const std::vector<int>& dims) {
  const int centred = l.pointwise("sub", {operand, l.mean(operand, dims)});
  return divided(l, centred, l.mean(l.pointwise("square", {centred}), dims), l.given_number("eps"));
}

// Dimensions of the input from `first` on.
std::vector<int> from(Lowering& l, std::size_t first) {
  std::vector<int> dims(l.at(l.input()).shape.size() - first);
  std::iota(dims.begin(), dims.end(), static_cast<int>(first));
  return dims;
}

// Those that the call names by their shape, or by that of its weights.
std::vector<int> normalized_dims(Lowering& l) {
  std::size_t count = l.given("normalized_shape") ? l.extents("normalized_shape").size() : 1;
  for (const char* parameter : {"bias", "weight"})
    if (const int node = l.operand(parameter); node >= 0) count = l.at(node).shape.size();
  return from(l, l.at(l.input()).shape.size() - count);
}

// Times the weight and plus the bias, where there are such, each as `shaped` makes it fit.
template <typename Shaped>
int scaled(Lowering& l, int value, Shaped shaped) {
  if (const int weight = l.operand("weight"); weight >= 0) value = l.pointwise("mul", {value, shaped(weight)});
  if (const int bias = l.operand("bias"); bias >= 0) value = l.pointwise("add", {value, shaped(bias)});
  return value;
}
int scaled(Lowering& l, int value) {
  return scaled(l, value, [](int node) { return node; });
}

// A vector of one element for each channel as [c, 1, 1].
int per_channel(Lowering& l, int vector) { return l.behind(vector, l.at(l.input()).shape.size() - 1); }
int scaled_by_channel(Lowering& l, int value) {
  return scaled(l, value, [&](int node) { return per_channel(l, node); });
}

int layer_norm(Lowering& l) { return scaled(l, normalized(l, l.input(), normalized_dims(l))); }

int rms_norm(Lowering& l) {
  const int eps = l.given("eps") ? l.given_number("eps") : l.literal_number(1.1920928955078125e-07);
  return scaled(l, divided(l, l.input(), l.mean(l.pointwise("square", {l.input()}), normalized_dims(l)), eps));
}

int instance_norm(Lowering& l) { return scaled_by_channel(l, normalized(l, l.input(), from(l, 2))); }

int group_norm(Lowering& l) {
  const tensor::Shape shape = l.at(l.input()).shape;
  const std::int64_t groups = l.integer("num_groups");
  const tensor::Extent count = literal(groups, l.assignments());
  tensor::Extent each = shape[1];
  each.text = in_parentheses(each.text) + " / " + std::to_string(groups);
  for (std::int64_t& value : each.values) value /= groups;
  const int grouped = l.reshape(l.input(), {shape[0], count, each, product_of(shape, 2, shape.size(), l.assignments())});
  // Channels of a group and positions are reduced together; weights are per channel.
  const int value = scaled(l, normalized(l, grouped, {2, 3}), [&](int node) { return l.reshape(node, {count, each, l.one()}); });
  return l.reshape(value, shape);
}

int batch_norm(Lowering& l) {
  if (l.truth("training")) {
    std::vector<int> dims = from(l, 1);  // all but the channels
    dims[0] = 0;
    return scaled_by_channel(l, normalized(l, l.input(), dims));
  }
  const int mean = l.operand("running_mean"), variance = l.operand("running_var");
  if (mean < 0 || variance < 0) throw NotCovered{"a batch_norm without statistics"};
  const int centred = l.pointwise("sub", {l.input(), per_channel(l, mean)});
  return scaled_by_channel(l, divided(l, centred, per_channel(l, variance), l.given_number("eps")));
}

}  // namespace

std::vector<LoweringRow> normalization_lowerings() {
  return {{"softmax", softmax},      {"log_softmax", log_softmax},     {"layer_norm", layer_norm},
          {"rms_norm", rms_norm},    {"instance_norm", instance_norm}, {"group_norm", group_norm},
          {"batch_norm", batch_norm}};
}

}  // namespace cudal1::algebra
