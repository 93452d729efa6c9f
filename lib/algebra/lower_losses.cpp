// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

namespace cudal1::algebra {
namespace {

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

std::vector<LoweringRow> loss_lowerings() {
  return {{"cross_entropy", [](Lowering& l) { return class_loss(l, false); }}, {"nll_loss", [](Lowering& l) { return class_loss(l, true); }}};
}

}  // namespace cudal1::algebra
