// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

namespace cudal1::algebra {
namespace {

int softmax(Lowering& l) {
  const int operand = l.operand("input");
  const std::vector<int> dims = l.axes("dim", l.at(operand).shape.size());
  const int powers = l.pointwise("exp", {l.pointwise("sub", {operand, l.reduce("max", operand, dims)})});
  // The sum is at least one, so that its reciprocal is as good as a division of every element.
  return l.pointwise("mul", {powers, l.pointwise("reciprocal", {l.reduce("sum", powers, dims)})});
}

int log_softmax(Lowering& l) {
  const int operand = l.operand("input");
  const std::vector<int> dims = l.axes("dim", l.at(operand).shape.size());
  const int shifted = l.pointwise("sub", {operand, l.reduce("max", operand, dims)});
  return l.pointwise("sub", {shifted, l.pointwise("log", {l.reduce("sum", l.pointwise("exp", {shifted}), dims)})});
}

// (x - mean) / sqrt(variance + eps) over `dims`, in two passes over what is then in registers.
int normalized(Lowering& l, int operand, const std::vector<int>& dims) {
  const int centred = l.pointwise("sub", {operand, l.mean(operand, dims)});
  const int variance = l.mean(l.pointwise("square", {centred}), dims);
  const int scale = l.pointwise("rsqrt", {l.pointwise("add", {variance, l.literal_number(l.number("eps"))})});
  return l.pointwise("mul", {centred, scale});
}

std::vector<int> last(Lowering& l, int operand, std::size_t count) {
  std::vector<int> dims;
  const std::size_t rank = l.at(operand).shape.size();
  for (std::size_t i = rank - count; i < rank; ++i) dims.push_back(static_cast<int>(i));
  return dims;
}

std::size_t normalized_rank(Lowering& l) {
  for (const char* parameter : {"weight", "bias"})
    if (const int node = l.operand(parameter); node >= 0) return l.at(node).shape.size();
  return l.given("normalized_shape") ? l.extents("normalized_shape").size() : 1;
}

int scaled(Lowering& l, int value) {
  if (const int weight = l.operand("weight"); weight >= 0) value = l.pointwise("mul", {value, weight});
  if (const int bias = l.operand("bias"); bias >= 0) value = l.pointwise("add", {value, bias});
  return value;
}

int layer_norm(Lowering& l) {
  const int operand = l.operand("input");
  return scaled(l, normalized(l, operand, last(l, operand, normalized_rank(l))));
}

int rms_norm(Lowering& l) {
  const int operand = l.operand("input");
  const double eps = l.given("eps") ? l.number("eps") : 1.1920928955078125e-07;
  const int squares = l.mean(l.pointwise("square", {operand}), last(l, operand, normalized_rank(l)));
  return scaled(
      l, l.pointwise("mul", {operand, l.pointwise("rsqrt", {l.pointwise("add", {squares, l.literal_number(eps)})})}));
}

// Weights and biases of channels as [c, 1, 1].
int channels(Lowering& l, int value, std::size_t spatial) {
  const auto shaped = [&](int node) {
    tensor::Shape shape = l.at(node).shape;
    shape.resize(1 + spatial, literal(1, l.assignments()));
    return l.reshape(node, shape);
  };
  if (const int weight = l.operand("weight"); weight >= 0) value = l.pointwise("mul", {value, shaped(weight)});
  if (const int bias = l.operand("bias"); bias >= 0) value = l.pointwise("add", {value, shaped(bias)});
  return value;
}

int instance_norm(Lowering& l) {
  const int operand = l.operand("input");
  const std::size_t spatial = l.at(operand).shape.size() - 2;
  return channels(l, normalized(l, operand, last(l, operand, spatial)), spatial);
}

int group_norm(Lowering& l) {
  const int operand = l.operand("input");
  const tensor::Shape shape = l.at(operand).shape;
  const std::int64_t groups = l.integer("num_groups");
  tensor::Extent each = shape[1];
  each.text = in_parentheses(each.text) + " / " + std::to_string(groups);
  for (std::int64_t& value : each.values) value /= groups;
  tensor::Shape grouped = {shape[0], literal(groups, l.assignments()), each};
  grouped.push_back(product_of(shape, 2, shape.size(), l.assignments()));
  // Channels of a group and positions are reduced together; weights are per channel.
  int value = normalized(l, l.reshape(operand, grouped), {2, 3});
  const auto shaped = [&](int node) {
    return l.reshape(node, {literal(groups, l.assignments()), each, literal(1, l.assignments())});
  };
  if (const int weight = l.operand("weight"); weight >= 0) value = l.pointwise("mul", {value, shaped(weight)});
  if (const int bias = l.operand("bias"); bias >= 0) value = l.pointwise("add", {value, shaped(bias)});
  return l.reshape(value, shape);
}

int batch_norm(Lowering& l) {
  const int operand = l.operand("input");
  const std::size_t rank = l.at(operand).shape.size();
  const auto per_channel = [&](int node) {
    tensor::Shape shape = l.at(node).shape;
    shape.resize(rank - 1, literal(1, l.assignments()));
    return l.reshape(node, shape);
  };
  int value = operand;
  if (l.truth("training")) {
    std::vector<int> dims;
    for (std::size_t i = 0; i < rank; ++i)
      if (i != 1) dims.push_back(static_cast<int>(i));
    value = normalized(l, operand, dims);
  } else {
    const int mean = l.operand("running_mean"), variance = l.operand("running_var");
    if (mean < 0 || variance < 0) throw NotCovered{"a batch_norm without statistics"};
    const int scale =
        l.pointwise("rsqrt", {l.pointwise("add", {per_channel(variance), l.literal_number(l.number("eps"))})});
    value = l.pointwise("mul", {l.pointwise("sub", {operand, per_channel(mean)}), scale});
  }
  return channels(l, value, rank - 2);
}

}  // namespace

std::vector<LoweringRow> normalization_lowerings() {
  return {{"softmax", softmax},      {"log_softmax", log_softmax},     {"layer_norm", layer_norm},
          {"rms_norm", rms_norm},    {"instance_norm", instance_norm}, {"group_norm", group_norm},
          {"batch_norm", batch_norm}};
}

}  // namespace cudal1::algebra
