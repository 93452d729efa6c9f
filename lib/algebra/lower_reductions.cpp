// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <cmath>

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
  };
}

}  // namespace cudal1::algebra
