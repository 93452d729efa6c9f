// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/dag.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

int pool_node(Lowering& l, const std::string& function, std::vector<Window> windows) {
  const tensor::Dtype computed = wide(l.type().dtype);
  Pool how{function == "max", l.truth("count_include_pad"), {}, std::move(windows)};
  if (l.given("divisor_override")) how.divisor = l.integer("divisor_override");
  return l.add({std::move(how), {l.as(l.input(), computed)}, computed, l.type().shape});
}

int pool(Lowering& l, const std::string& function, std::size_t spatial) {
  const auto kernel = l.integers("kernel_size", spatial), paddings = l.integers("padding", spatial);
  const auto strides = l.given("stride") ? l.integers("stride", spatial) : kernel;
  const auto dilations = l.given("dilation") ? l.integers("dilation", spatial) : std::vector<std::int64_t>(spatial, 1);
  const std::size_t front = l.type().shape.size() - spatial;
  std::vector<Window> windows;
  for (std::size_t i = 0; i < spatial; ++i)
    windows.push_back(
        {strides[i], paddings[i], dilations[i], l.type().shape[front + i], literal(kernel[i], l.assignments())});
  return pool_node(l, function, std::move(windows));
}

// To one position: a reduction. Else windows of equal size, where the input is a multiple of the result.
int adaptive(Lowering& l, const std::string& function, std::size_t spatial) {
  const int operand = l.input();
  const tensor::Shape in = l.at(operand).shape, out = l.type().shape;
  const std::size_t front = out.size() - spatial;
  std::vector<int> dims;
  std::vector<Window> windows;
  for (std::size_t i = front; i < out.size(); ++i) {
    dims.push_back(static_cast<int>(i));
    const std::int64_t taps = in[i].values[0] / out[i].values[0];
    for (std::size_t k = 0; k < in[i].values.size(); ++k)
      if (in[i].values[k] != out[i].values[k] * taps) windows.clear(), k = in[i].values.size();
      else if (k + 1 == in[i].values.size()) windows.push_back({taps, 0, 1, out[i], literal(taps, l.assignments())});
  }
  if (std::all_of(out.begin() + static_cast<std::ptrdiff_t>(front), out.end(), tensor::is_one))
    return function == "max" ? l.reduce("max", operand, dims) : l.mean(operand, dims);
  if (windows.size() != spatial) throw NotCovered{"adaptive pooling to windows of different sizes"};
  return pool_node(l, function, std::move(windows));
}

int scan(Lowering& l, const std::string& function) {
  const int operand = l.as(l.input(), wide(l.type().dtype));
  return l.add({Scan{function, static_cast<int>(l.axis(l.type().shape.size()))}, {operand}, l.at(operand).dtype, l.type().shape});
}

int recurrence(Lowering& l) {
  const tensor::Dtype computed = wide(l.type().dtype);
  Node node{Recurrence{l.word("kind"), l.truth("reverse"), l.operand("bias") >= 0}, {}, computed, l.type().shape};
  for (const char* parameter : {"gates", "weight", "hidden", "cell", "bias"})
    if (const int operand = l.operand(parameter); operand >= 0) node.operands.push_back(l.as(operand, computed));
  return l.add(std::move(node));
}

}  // namespace

std::vector<LoweringRow> window_lowerings() {
  std::vector<LoweringRow> rows{{"cumsum", [](Lowering& l) { return scan(l, "sum"); }}, {"cumprod", [](Lowering& l) { return scan(l, "prod"); }},
                                {"recurrence", recurrence}};
  for (const std::size_t spatial : {1U, 2U, 3U})
    for (const bool largest : {true, false}) {
      const std::string name = fmt::format("{}_pool{}d", largest ? "max" : "avg", spatial), function = largest ? "max" : "mean";
      rows.push_back({name, [=](Lowering& l) { return pool(l, function, spatial); }});
      rows.push_back({"adaptive_" + name, [=](Lowering& l) { return adaptive(l, function, spatial); }});
    }
  return rows;
}

}  // namespace cudal1::algebra
