// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/dag.hpp"

#include <cmath>
#include <numeric>

namespace cudal1::algebra {
namespace {

// A reduction of the call's input along the call's dimensions, which stay only where the call keeps them.
LoweringRow row(const char* name, int (*reduced)(Lowering& l, int operand, const std::vector<int>& dims)) {
  return {name, [=](Lowering& l) {
            const std::vector<int> dims = l.axes("dim");
            return l.squeeze(reduced(l, l.input(), dims), dims, l.truth("keepdim"));
          }};
}

int plain(Lowering& l, const char* function, int operand, const std::vector<int>& dims) {
  return l.reduce(function, l.at(operand).dtype == l.type().dtype ? operand : l.pointwise("identity", {operand}, l.type().dtype), dims);
}

// Of one dimension, or of the whole as one long line.
int position(Lowering& l, const char* function) {
  const tensor::Shape shape = l.at(l.input()).shape;
  if (l.given("dim")) {
    const std::vector<int> dims = l.axes("dim");
    return l.squeeze(l.reduce(function, l.input(), dims), dims, l.truth("keepdim"));
  }
  const int line = l.reshape(l.input(), {product_of(shape, 0, shape.size(), l.assignments())});
  return l.reshape(l.reduce(function, line, {0}), l.type().shape);
}

int variance(Lowering& l, int operand, const std::vector<int>& dims) {
  const tensor::Dtype dtype = l.at(operand).dtype;
  const int centred = l.pointwise("sub", {operand, l.mean(operand, dims)});
  const int squares = l.sum(l.pointwise("square", {centred}), dims);
  const double correction = l.given("correction") ? l.number_of("correction") : 1;
  int divisor = l.number(l.count(operand, dims), dtype);
  if (correction != 0) divisor = l.pointwise("sub", {divisor, l.literal_number(correction)}, dtype);
  return l.pointwise("div", {squares, divisor}, dtype);
}

int norm(Lowering& l, int operand, const std::vector<int>& dims) {
  const double p = l.word("p") == "fro" ? 2 : l.number_of("p");
  if (p == 2) return l.pointwise("sqrt", {l.sum(l.pointwise("square", {operand}), dims)});
  const int sizes = l.pointwise("abs", {operand});
  if (p == 1) return l.sum(sizes, dims);
  if (std::isinf(p)) return l.reduce(p > 0 ? "max" : "min", sizes, dims);
  if (p == 0) throw NotCovered{"torch.norm is not covered for p = 0"};
  const int powers = l.sum(l.pointwise("pow", {sizes, l.literal_number(p)}), dims);
  return l.pointwise("pow", {powers, l.literal_number(1 / p)});
}

// Of what is true in 1 and what is not in 0.
int truth(Lowering& l, const char* function, int operand, const std::vector<int>& dims) {
  const int one = l.pointwise("where", {l.pointwise("ne", {operand, l.literal_number(0)}), l.literal_number(1), l.literal_number(0)}, tensor::Dtype::int32);
  return l.pointwise("ne", {l.reduce(function, one, dims), l.literal_number(0)});
}

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
  const tensor::Extent each = algebra::divided(shape[1], groups);
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

// Minus the log probability of the class that the target names, or of all by the target's probabilities. Reading the one
// element by its coordinate costs nothing: the row passes anyway for its sum.
int class_loss(Lowering& l, bool logarithms) {
  const int input = l.input(), target = l.operand("target");
  const tensor::Shape shape = l.at(input).shape;
  const std::size_t rank = shape.size(), dim = rank == 1 ? 0 : 1;
  const std::vector<int> dims{static_cast<int>(dim)};
  const int weight = l.operand("weight") < 0 ? -1 : l.behind(l.operand("weight"), rank - dim);
  const double smoothing = !logarithms && l.given("label_smoothing") ? l.number_of("label_smoothing") : 0;
  const tensor::Dtype dtype = l.at(input).dtype;
  const auto weighted = [&](int value, int by) { return by < 0 ? value : l.pointwise("mul", {value, by}); };
  const auto smoothed = [&](int value, int other) {  // `other` is shared by all classes
    const int share = l.pointwise("div", {l.literal_number(smoothing), l.number(shape[dim], dtype)}, dtype);
    const int spread = other < 0 ? share : l.pointwise("mul", {other, share});
    return l.pointwise("add", {l.pointwise("mul", {value, l.literal_number(1 - smoothing)}), spread});
  };
  std::vector<int> rest;
  for (std::size_t i = 0; i < rank; ++i) rest.push_back(static_cast<int>(i));
  const std::string reduction = l.word("reduction");
  const auto normaliser = [&] { return l.log_sum_exp(input, dims); };
  if (tensor::is_floating(l.at(target).dtype)) {
    const int share = smoothing != 0 ? smoothed(target, -1) : target;
    int loss = l.sum(weighted(l.pointwise("mul", {share, l.pointwise("sub", {normaliser(), input})}), weight), dims);
    const tensor::Extent rows = l.count(loss, rest);
    if (reduction != "none") loss = l.sum(loss, rest);
    if (reduction == "mean") loss = l.pointwise("div", {loss, l.number(rows, dtype)});
    return l.reshape(loss, l.type().shape);
  }
  tensor::Shape kept = shape;
  kept[dim] = l.one();
  const int named = l.reshape(target, kept);
  const int hit = l.pointwise("eq", {l.coordinate(shape[dim], dim, rank), named});
  const auto of_named = [&](int values) { return l.sum(l.pointwise("where", {hit, values, l.literal_number(0)}, dtype), dims); };
  int loss = l.pointwise("neg", {of_named(input)});
  if (!logarithms) loss = l.pointwise("add", {loss, normaliser()});
  const int own_weight = weight < 0 ? -1 : of_named(weight);
  loss = weighted(loss, own_weight);
  if (smoothing != 0) loss = smoothed(loss, l.sum(weighted(l.pointwise("sub", {normaliser(), input}), weight), dims));
  const int ignored = l.literal_number(static_cast<double>(l.integer("ignore_index")), tensor::Dtype::int64);
  const int counts = l.pointwise("ne", {named, ignored});
  loss = l.pointwise("where", {counts, loss, l.literal_number(0)}, dtype);
  if (reduction != "none") {
    const int weights = l.pointwise("where", {counts, own_weight < 0 ? l.literal_number(1) : own_weight, l.literal_number(0)}, dtype);
    loss = l.sum(loss, rest);
    if (reduction == "mean") loss = l.pointwise("div", {loss, l.sum(weights, rest)});
  }
  return l.reshape(loss, l.type().shape);
}

}  // namespace

std::vector<LoweringRow> reduction_lowerings() {
  using Dims = std::vector<int>;
  return {
      row("sum", [](Lowering& l, int operand, const Dims& dims) { return plain(l, "sum", operand, dims); }),
      row("prod", [](Lowering& l, int operand, const Dims& dims) { return plain(l, "prod", operand, dims); }),
      row("amax", [](Lowering& l, int operand, const Dims& dims) { return plain(l, "max", operand, dims); }),
      row("amin", [](Lowering& l, int operand, const Dims& dims) { return plain(l, "min", operand, dims); }),
      row("any", [](Lowering& l, int operand, const Dims& dims) { return truth(l, "max", operand, dims); }),
      row("all", [](Lowering& l, int operand, const Dims& dims) { return truth(l, "min", operand, dims); }),
      row("mean", [](Lowering& l, int operand, const Dims& dims) { return l.mean(operand, dims); }),
      row("std", [](Lowering& l, int operand, const Dims& dims) { return l.pointwise("sqrt", {variance(l, operand, dims)}); }),
      row("logsumexp", [](Lowering& l, int operand, const Dims& dims) { return l.log_sum_exp(operand, dims); }),
      row("var", variance),
      row("norm", norm),
      {"argmax", [](Lowering& l) { return position(l, "argmax"); }},
      {"argmin", [](Lowering& l) { return position(l, "argmin"); }},
      {"softmax", softmax}, {"log_softmax", log_softmax}, {"layer_norm", layer_norm}, {"rms_norm", rms_norm}, {"instance_norm", instance_norm},
      {"group_norm", group_norm}, {"batch_norm", batch_norm},
      {"cross_entropy", [](Lowering& l) { return class_loss(l, false); }},
      {"nll_loss", [](Lowering& l) { return class_loss(l, true); }},
  };
}

}  // namespace cudal1::algebra
