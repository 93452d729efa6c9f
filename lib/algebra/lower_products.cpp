// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

namespace cudal1::algebra {
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
  const int attention = spelt_attention(l, a, l.as(b, wide(l.at(b).dtype)));
  return attention >= 0 ? attention : l.reshape(l.product(a, b), l.type().shape);
}

int convolution(Lowering& l, std::size_t spatial, bool transposed) {
  const tensor::Dtype computed = wide(l.type().dtype);
  const int input = l.as(l.operand("input"), computed), weight = l.as(l.operand("weight"), computed), bias = l.operand("bias");
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
  Convolution how{transposed, l.given("groups") ? l.integer("groups") : std::int64_t{1}, {}};
  for (std::size_t i = 0; i < spatial; ++i)
    how.windows.push_back({strides[i], paddings[i], dilations[i], l.type().shape[i + 2], l.at(weight).shape[i + 2]});
  int result = l.add({std::move(how), {input, weight}, computed, l.type().shape});
  if (bias >= 0) {
    tensor::Shape shape = l.at(bias).shape;
    shape.resize(1 + spatial, literal(1, l.assignments()));
    result = l.pointwise("add", {result, l.reshape(l.as(bias, computed), shape)});
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
          {"conv1d", conv1d},
          {"conv2d", conv2d},
          {"conv3d", conv3d},
          {"conv_transpose1d", conv_transpose1d},
          {"conv_transpose2d", conv_transpose2d},
          {"conv_transpose3d", conv_transpose3d}};
}

}  // namespace cudal1::algebra
