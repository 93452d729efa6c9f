// SPDX-License-Identifier: Apache-2.0
#include "playbook/families.hpp"
#include "playbook/lowering.hpp"

namespace cudal1::playbook {
namespace {

// Minus the log probability of the class that the target names. Reading the one element by its coordinate costs
// nothing: the row passes anyway for its sum.
int class_loss(Lowering& l, bool logarithms) {
  const int input = l.operand("input"), target = l.operand("target");
  if (l.operand("weight") >= 0) throw NotCovered{"a loss with weights of classes"};
  if (!logarithms && l.given("label_smoothing") && l.number("label_smoothing") != 0)
    throw NotCovered{"a loss with smoothed labels"};
  if (tensor::is_floating(l.at(target).dtype)) throw NotCovered{"a loss whose target holds probabilities"};
  const tensor::Shape shape = l.at(input).shape;
  const std::size_t rank = shape.size(), dim = rank == 1 ? 0 : 1;
  const std::vector<int> dims{static_cast<int>(dim)};
  tensor::Shape kept = shape;
  kept[dim] = literal(1, l.assignments());
  const int named = l.reshape(target, kept);
  const int hit = l.pointwise("eq", {l.coordinate(shape[dim], dim, rank), named});
  int loss = l.pointwise(
      "neg", {l.reduce("sum", l.pointwise("where", {hit, input, l.literal_number(0)}, l.at(input).dtype), dims)});
  if (!logarithms) {
    const int most = l.reduce("max", input, dims);
    const int powers = l.reduce("sum", l.pointwise("exp", {l.pointwise("sub", {input, most})}), dims);
    loss = l.pointwise("add", {loss, l.pointwise("add", {l.pointwise("log", {powers}), most})});
  }
  const int ignored = l.literal_number(static_cast<double>(l.integer("ignore_index")), tensor::Dtype::int64);
  const int counts = l.pointwise("ne", {named, ignored});
  loss = l.pointwise("where", {counts, loss, l.literal_number(0)}, l.at(input).dtype);
  std::vector<int> rest;
  for (std::size_t i = 0; i < rank; ++i) rest.push_back(static_cast<int>(i));
  const std::string reduction = l.word("reduction");
  if (reduction != "none") {
    const int weights = l.pointwise("where", {counts, l.literal_number(1), l.literal_number(0)}, l.at(input).dtype);
    loss = l.reduce("sum", loss, rest);
    if (reduction == "mean") loss = l.pointwise("div", {loss, l.reduce("sum", weights, rest)});
  }
  return l.reshape(loss, l.type().shape);
}
int cross_entropy(Lowering& l) { return class_loss(l, false); }
int nll_loss(Lowering& l) { return class_loss(l, true); }

}  // namespace

std::vector<LoweringRow> loss_lowerings() { return {{"cross_entropy", cross_entropy}, {"nll_loss", nll_loss}}; }

}  // namespace cudal1::playbook
