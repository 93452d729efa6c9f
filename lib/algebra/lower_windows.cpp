// SPDX-License-Identifier: Apache-2.0
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>

namespace cudal1::algebra {
namespace {

int pool_node(Lowering& l, const std::string& function, std::vector<Window> windows) {
  const tensor::Dtype computed = wide(l.type().dtype);
  Pool how{function == "max", l.truth("count_include_pad"), {}, std::move(windows)};
  if (l.given("divisor_override")) how.divisor = l.integer("divisor_override");
  return l.add({std::move(how), {l.as(l.operand("input"), computed)}, computed, l.type().shape});
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
int max_pool1d(Lowering& l) { return pool(l, "max", 1); }
int max_pool2d(Lowering& l) { return pool(l, "max", 2); }
int max_pool3d(Lowering& l) { return pool(l, "max", 3); }
int avg_pool1d(Lowering& l) { return pool(l, "mean", 1); }
int avg_pool2d(Lowering& l) { return pool(l, "mean", 2); }
int avg_pool3d(Lowering& l) { return pool(l, "mean", 3); }

// To one position: a reduction. Else windows of equal size, where the input is a multiple of the result.
int adaptive(Lowering& l, const std::string& function, std::size_t spatial) {
  const int operand = l.operand("input");
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
int adaptive_avg_pool1d(Lowering& l) { return adaptive(l, "mean", 1); }
int adaptive_avg_pool2d(Lowering& l) { return adaptive(l, "mean", 2); }
int adaptive_avg_pool3d(Lowering& l) { return adaptive(l, "mean", 3); }
int adaptive_max_pool1d(Lowering& l) { return adaptive(l, "max", 1); }
int adaptive_max_pool2d(Lowering& l) { return adaptive(l, "max", 2); }
int adaptive_max_pool3d(Lowering& l) { return adaptive(l, "max", 3); }

int scan(Lowering& l, const std::string& function) {
  const int operand = l.as(l.operand("input"), wide(l.type().dtype));
  return l.add({Scan{function, l.axes("dim", l.type().shape.size()).at(0)}, {operand}, l.at(operand).dtype, l.type().shape});
}
int cumsum(Lowering& l) { return scan(l, "sum"); }
int cumprod(Lowering& l) { return scan(l, "prod"); }

}  // namespace

std::vector<LoweringRow> window_lowerings() {
  return {{"max_pool1d", max_pool1d},
          {"max_pool2d", max_pool2d},
          {"max_pool3d", max_pool3d},
          {"avg_pool1d", avg_pool1d},
          {"avg_pool2d", avg_pool2d},
          {"avg_pool3d", avg_pool3d},
          {"adaptive_avg_pool1d", adaptive_avg_pool1d},
          {"adaptive_avg_pool2d", adaptive_avg_pool2d},
          {"adaptive_avg_pool3d", adaptive_avg_pool3d},
          {"adaptive_max_pool1d", adaptive_max_pool1d},
          {"adaptive_max_pool2d", adaptive_max_pool2d},
          {"adaptive_max_pool3d", adaptive_max_pool3d},
          {"cumsum", cumsum},
          {"cumprod", cumprod}};
}

}  // namespace cudal1::algebra
