// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <cmath>

namespace cudal1::algebra {
namespace {

struct Reduced {
  int operand;
  std::vector<int> dims;
};

Reduced read(Lowering& l) {
  const int operand = l.operand("input");
  return {operand, l.axes("dim", l.at(operand).shape.size())};
}

int finish(Lowering& l, int node, const std::vector<int>& dims) { return l.squeeze(node, dims, l.truth("keepdim")); }

int plain(Lowering& l, const char* function) {
  const auto [operand, dims] = read(l);
  int from = operand;
  if (l.at(operand).dtype != l.type().dtype && function != std::string_view("argmax") && function != std::string_view("argmin"))
    from = l.pointwise("identity", {operand}, l.type().dtype);
  return finish(l, l.reduce(function, from, dims), dims);
}
int sum(Lowering& l) { return plain(l, "sum"); }
int prod(Lowering& l) { return plain(l, "prod"); }
int amax(Lowering& l) { return plain(l, "max"); }
int amin(Lowering& l) { return plain(l, "min"); }

int mean(Lowering& l) {
  const auto [operand, dims] = read(l);
  return finish(l, l.mean(operand, dims), dims);
}

// Of one dimension, or of the whole as one long line.
int arg(Lowering& l, const char* function) {
  int operand = l.operand("input");
  if (l.given("dim")) {
    const std::vector<int> dims = l.axes("dim", l.at(operand).shape.size());
    return finish(l, l.reduce(function, operand, dims), dims);
  }
  const tensor::Shape shape = l.at(operand).shape;
  operand = l.reshape(operand, {product_of(shape, 0, shape.size(), l.assignments())});
  return l.reshape(l.reduce(function, operand, {0}), l.type().shape);
}
int argmax(Lowering& l) { return arg(l, "argmax"); }
int argmin(Lowering& l) { return arg(l, "argmin"); }

int variance(Lowering& l, int operand, const std::vector<int>& dims) {
  tensor::Extent count = literal(1, l.assignments());
  for (int dim : dims) count = times(count, l.at(operand).shape[static_cast<std::size_t>(dim)]);
  const int centred = l.pointwise("sub", {operand, l.mean(operand, dims)});
  const int squares = l.reduce("sum", l.pointwise("square", {centred}), dims);
  const double correction = l.given("correction") ? l.number("correction") : 1;
  int divisor = l.size_number(count, l.at(operand).dtype);
  if (correction != 0) divisor = l.pointwise("sub", {divisor, l.literal_number(correction)}, l.at(operand).dtype);
  return l.pointwise("div", {squares, divisor}, l.at(operand).dtype);
}
int var(Lowering& l) {
  const auto [operand, dims] = read(l);
  return finish(l, variance(l, operand, dims), dims);
}
int deviation(Lowering& l) {
  const auto [operand, dims] = read(l);
  return finish(l, l.pointwise("sqrt", {variance(l, operand, dims)}), dims);
}

int logsumexp(Lowering& l) {
  const auto [operand, dims] = read(l);
  const int largest = l.reduce("max", operand, dims);
  const int sum_of = l.reduce("sum", l.pointwise("exp", {l.pointwise("sub", {operand, largest})}), dims);
  return finish(l, l.pointwise("add", {l.pointwise("log", {sum_of}), largest}), dims);
}

int norm(Lowering& l) {
  const auto [operand, dims] = read(l);
  const double p = l.word("p") == "fro" ? 2 : l.number("p");
  if (p == 2) return finish(l, l.pointwise("sqrt", {l.reduce("sum", l.pointwise("square", {operand}), dims)}), dims);
  if (p == 1) return finish(l, l.reduce("sum", l.pointwise("abs", {operand}), dims), dims);
  const int sizes = l.pointwise("abs", {operand});
  if (std::isinf(p)) return finish(l, l.reduce(p > 0 ? "max" : "min", sizes, dims), dims);
  if (p == 0) throw NotCovered{"torch.norm is not covered for p = 0"};
  const int powers = l.reduce("sum", l.pointwise("pow", {sizes, l.literal_number(p)}), dims);
  return finish(l, l.pointwise("pow", {powers, l.literal_number(1 / p)}), dims);
}

// Of what is true in 1 and what is not in 0.
int truth(Lowering& l, const char* function) {
  const auto [operand, dims] = read(l);
  const int one = l.pointwise("where", {l.pointwise("ne", {operand, l.literal_number(0)}), l.literal_number(1), l.literal_number(0)}, tensor::Dtype::int32);
  return finish(l, l.pointwise("ne", {l.reduce(function, one, dims), l.literal_number(0)}), dims);
}
int any(Lowering& l) { return truth(l, "max"); }
int all(Lowering& l) { return truth(l, "min"); }

}  // namespace

std::vector<LoweringRow> reduction_lowerings() {
  return {{"sum", sum},       {"prod", prod},           {"amax", amax},     {"amin", amin},
          {"mean", mean},     {"argmax", argmax},       {"argmin", argmin}, {"var", var},
          {"std", deviation}, {"logsumexp", logsumexp}, {"norm", norm},
          {"any", any},       {"all", all}};
}

}  // namespace cudal1::algebra
