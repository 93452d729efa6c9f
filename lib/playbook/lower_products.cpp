// SPDX-License-Identifier: Apache-2.0
#include "playbook/families.hpp"
#include "playbook/lowering.hpp"

#include <cmath>

namespace cudal1::playbook {
namespace {

int with_unit(Lowering& l, int node, bool front) {
  tensor::Shape shape = l.at(node).shape;
  shape.insert(front ? shape.begin() : shape.end(), literal(1, l.assignments()));
  return l.reshape(node, shape);
}

int matmul(Lowering& l) {
  int a = l.operand("input"), b = l.operand("other");
  if (l.at(a).shape.size() == 1) a = with_unit(l, a, true);
  if (l.at(b).shape.size() == 1) b = with_unit(l, b, false);
  return l.reshape(l.product(a, b), l.type().shape);
}

int attention(Lowering& l) {
  const int q = l.operand("query"), k = l.operand("key"), v = l.operand("value");
  const bool causal = l.truth("is_causal");
  const tensor::Shape shape = l.at(q).shape;
  const std::size_t rank = shape.size();
  const tensor::Extent head = shape[rank - 1];
  const int scale = l.given("scale") ? l.literal_number(l.number("scale"))
                                     : l.pointwise("rsqrt", {l.size_number(head, l.at(q).dtype)});
  const bool mask = l.operand("attn_mask") >= 0;
  const bool same = l.at(k).shape == shape && l.at(v).shape == shape;
  if (l.options().attention && !mask && same && l.at(q).dtype == tensor::Dtype::float32) {
    Node node;
    node.kind = Kind::attention;
    node.function = "attention";
    node.operands = {q, k, v};
    node.dtype = l.at(q).dtype;
    node.shape = shape;
    node.attributes["is_causal"] = causal;
    if (l.given("scale")) node.attributes["scale"] = l.number("scale");
    return l.add(node);
  }
  int scores = l.pointwise("mul", {l.product(q, l.swap_last(k)), scale});
  if (mask) {
    if (l.at(l.operand("attn_mask")).dtype == tensor::Dtype::bool_)
      throw NotCovered{"an attention mask of truth values"};
    scores = l.pointwise("add", {scores, l.operand("attn_mask")});
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
  return l.product(l.pointwise("div", {powers, l.reduce("sum", powers, dims)}), v);
}

int convolution(Lowering& l, std::size_t spatial, bool transposed) {
  const int input = l.operand("input"), weight = l.operand("weight"), bias = l.operand("bias");
  if (l.at(input).shape.size() != spatial + 2) throw NotCovered{"a convolution without a batch"};
  const auto strides = l.integers("stride", spatial), dilations = l.integers("dilation", spatial);
  std::vector<std::int64_t> paddings(spatial, 0);
  if (l.word("padding").empty()) {
    paddings = l.integers("padding", spatial);
  } else if (l.word("padding") == "same") {
    for (std::size_t i = 0; i < spatial; ++i) {
      const tensor::Extent& taps = l.at(weight).shape[i + 2];
      if (taps != literal(taps.values[0], taps.values.size()))
        throw NotCovered{"a convolution whose window changes with the sizes"};
      paddings[i] = (taps.values[0] - 1) * dilations[i] / 2;
    }
  }
  Node node;
  node.kind = Kind::convolution;
  node.function = transposed ? "conv_transpose" : "conv";
  node.operands = {input, weight};
  node.dtype = l.type().dtype;
  node.shape = l.type().shape;
  for (std::size_t i = 0; i < spatial; ++i)
    node.windows.push_back({strides[i], paddings[i], dilations[i], node.shape[i + 2], l.at(weight).shape[i + 2]});
  node.attributes["groups"] = l.given("groups") ? l.integer("groups") : std::int64_t{1};
  int result = l.add(node);
  if (bias >= 0) {
    tensor::Shape shape = l.at(bias).shape;
    shape.resize(1 + spatial, literal(1, l.assignments()));
    result = l.pointwise("add", {result, l.reshape(bias, shape)});
  }
  return result;
}
int conv1d(Lowering& l) { return convolution(l, 1, false); }
int conv2d(Lowering& l) { return convolution(l, 2, false); }
int conv3d(Lowering& l) { return convolution(l, 3, false); }
int conv_transpose1d(Lowering& l) { return convolution(l, 1, true); }
int conv_transpose2d(Lowering& l) { return convolution(l, 2, true); }
int conv_transpose3d(Lowering& l) { return convolution(l, 3, true); }

}  // namespace

std::vector<LoweringRow> product_lowerings() {
  return {{"matmul", matmul},
          {"scaled_dot_product_attention", attention},
          {"conv1d", conv1d},
          {"conv2d", conv2d},
          {"conv3d", conv3d},
          {"conv_transpose1d", conv_transpose1d},
          {"conv_transpose2d", conv_transpose2d},
          {"conv_transpose3d", conv_transpose3d}};
}

}  // namespace cudal1::playbook
