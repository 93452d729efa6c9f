// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include <cmath>

namespace cudal1::algebra {
namespace {

// `number` multiplies or divides the scores; -1: they are divided by the root of the head's width.
int whole(Lowering& l, std::vector<int> operands, int number, bool divides, bool causal) {
  const Node q = l.at(operands[0]);
  if (number >= 0) operands.push_back(number);
  return l.add({Attention{causal, divides}, std::move(operands), q.dtype, q.shape});
}

bool fits(const Lowering& l, int q, int k, int v) {
  const Node& of = l.at(q);
  return l.options().attention && l.at(k).shape == of.shape && l.at(v).shape == of.shape && of.dtype == tensor::Dtype::float32;
}

int attention(Lowering& l) {
  const tensor::Dtype computed = wide(l.type().dtype);
  const int q = l.as(l.operand("query"), computed), k = l.as(l.operand("key"), computed), v = l.as(l.operand("value"), computed);
  const bool causal = l.truth("is_causal");
  const tensor::Shape shape = l.at(q).shape;
  const std::size_t rank = shape.size();
  const bool mask = l.operand("attn_mask") >= 0;
  if (!mask && fits(l, q, k, v))
    return whole(l, {q, k, v}, l.given("scale") ? l.given_number("scale") : -1, false, causal);
  const int scale = l.given("scale") ? l.given_number("scale")
                                     : l.pointwise("rsqrt", {l.number(shape[rank - 1], l.at(q).dtype)});
  int scores = l.pointwise("mul", {l.product(q, l.swap_last(k)), scale});
  if (mask) {
    const int given = l.operand("attn_mask");
    scores = l.at(given).dtype == tensor::Dtype::bool_ ? l.pointwise("where", {given, scores, l.literal_number(-INFINITY)}, computed)
                                                       : l.pointwise("add", {scores, l.as(given, computed)});
  }
  if (causal) {
    const int row = l.coordinate(shape[rank - 2], rank - 2, rank),
              column = l.coordinate(l.at(k).shape[rank - 2], rank - 1, rank);
    // exp of it is 0 in fp32, and it is finite: a row is never without a largest element.
    scores =
        l.pointwise("where", {l.pointwise("le", {column, row}), scores, l.literal_number(-1e30)}, l.at(scores).dtype);
  }
  const std::vector<int> dims{static_cast<int>(rank) - 1};
  const int powers = l.pointwise("exp", {l.pointwise("sub", {scores, l.reduce("max", scores, dims)})});
  return l.product(l.pointwise("div", {powers, l.sum(powers, dims)}), v);
}

// What `id` is the softmax of along its last dimension, as it is spelt out; -1: of nothing.
int softmax_of(const Lowering& l, int id) {
  if (!l.at(id).computes("mul") || !l.at(l.at(id).operands[1]).computes("reciprocal")) return -1;
  const int powers = l.at(id).operands[0], sum = l.at(l.at(id).operands[1]).operands[0];
  if (!l.at(sum).reduces("sum") || l.at(sum).operands[0] != powers || !l.at(powers).computes("exp")) return -1;
  const int shifted = l.at(powers).operands[0];
  if (!l.at(shifted).computes("sub") || !l.at(l.at(shifted).operands[1]).reduces("max")) return -1;
  const int scores = l.at(shifted).operands[0], most = l.at(shifted).operands[1];
  const std::vector<int> last{static_cast<int>(l.at(scores).shape.size()) - 1};
  return l.at(most).operands[0] == scores && l.at(most).as<Reduce>().dims == last && l.at(sum).as<Reduce>().dims == last ? scores : -1;
}

}  // namespace

int spelt_attention(Lowering& l, int weights, int v) {
  int scores = softmax_of(l, weights), number = -1;
  if (scores < 0) return -1;
  bool divides = false;
  if (const Node& scaled = l.at(scores); scaled.computes("mul") || scaled.computes("div")) {
    divides = scaled.computes("div");
    const bool second = l.at(scaled.operands[1]).is<Number>();
    if (divides && !second) return -1;
    number = scaled.operands[second ? 1 : 0];
    scores = scaled.operands[second ? 0 : 1];
  }
  if (!l.at(scores).is<Product>() || (number >= 0 && !l.at(number).is<Number>())) return -1;
  const int q = l.at(scores).operands[0], k = l.swap_last(l.at(scores).operands[1]);
  return fits(l, q, k, v) ? whole(l, {q, k, v}, number < 0 ? l.literal_number(1) : number, divides, false) : -1;
}

std::vector<LoweringRow> attention_lowerings() { return {{"scaled_dot_product_attention", attention}}; }

}  // namespace cudal1::algebra
