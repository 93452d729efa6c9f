// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

int with_unit(Lowering& l, int node, bool front) {
  tensor::Shape shape = l.at(node).shape;
  if (shape.size() > 1) return node;
  shape.insert(front ? shape.begin() : shape.end(), l.one());
  return l.reshape(node, shape);
}

int matmul(Lowering& l) {
  const int a = with_unit(l, l.input(), true), b = with_unit(l, l.operand("other"), false);
  const int attention = spelt_attention(l, a, l.as(b, wide(l.at(b).dtype)));
  return attention >= 0 ? attention : l.reshape(l.product(a, b), l.type().shape);
}

int convolution(Lowering& l, std::size_t spatial, bool transposed) {
  const tensor::Dtype computed = wide(l.type().dtype);
  const int input = l.as(l.input(), computed), weight = l.as(l.operand("weight"), computed), bias = l.operand("bias");
  if (l.at(input).shape.size() != spatial + 2) throw NotCovered{"a convolution without a batch"};
  const auto strides = l.integers("stride", spatial), dilations = l.integers("dilation", spatial);
  std::vector<std::int64_t> paddings(spatial, 0);
  if (l.word("padding").empty()) {
    paddings = l.integers("padding", spatial);
  } else if (l.word("padding") == "same") {
    for (std::size_t i = 0; i < spatial; ++i) {
      const tensor::Extent& taps = l.at(weight).shape[i + 2];
      if (taps != literal(taps.values[0], taps.values.size())) throw NotCovered{"a convolution whose window changes with the sizes"};
      paddings[i] = (taps.values[0] - 1) * dilations[i] / 2;
    }
  }
  Convolution how{transposed, l.given("groups") ? l.integer("groups") : std::int64_t{1}, {}};
  for (std::size_t i = 0; i < spatial; ++i)
    how.windows.push_back({strides[i], paddings[i], dilations[i], l.type().shape[i + 2], l.at(weight).shape[i + 2]});
  const int result = l.add({std::move(how), {input, weight}, computed, l.type().shape});
  return bias < 0 ? result : l.pointwise("add", {result, l.behind(l.as(bias, computed), 1 + spatial)});
}

}  // namespace

std::vector<LoweringRow> product_lowerings() {
  std::vector<LoweringRow> rows{{"matmul", matmul}};
  for (const std::size_t spatial : {1U, 2U, 3U}) {
    rows.push_back({fmt::format("conv{}d", spatial), [=](Lowering& l) { return convolution(l, spatial, false); }});
    rows.push_back({fmt::format("conv_transpose{}d", spatial), [=](Lowering& l) { return convolution(l, spatial, true); }});
  }
  return rows;
}

}  // namespace cudal1::algebra
