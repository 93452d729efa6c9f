// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

Type scan_type(const Call& call) {
  call.axis("dim", rank(call.type(0)));
  const Dtype dtype = call.type(0).dtype;
  return {is_floating(dtype) ? dtype : Dtype::int64, call.type(0).shape};
}
Type same_type(const Call& call) { return call.axis("dim", rank(call.type(0))), call.type(0); }
Type index_type(const Call& call) { return {Dtype::int64, same_type(call).shape}; }
Type topk_type(const Call& call) {
  Type type = same_type(call);
  if (type.shape.empty()) throw Refusal("the input needs a dimension");
  const auto axis = static_cast<std::size_t>(call.axis("dim", rank(type)));
  const Quantity k = call.quantity("k");
  for (std::size_t i = 0; i < k.values.size(); ++i)
    if (k.values[i].real || k.values[i].integer < 0 || k.values[i].integer > type.shape[axis].values[i])
      throw Refusal(fmt::format("k = {} is outside the dimension {}", k.text, type.shape[axis].text));
  type.shape[axis] = k.extent();
  return type;
}
Type topk_index_type(const Call& call) { return {Dtype::int64, topk_type(call).shape}; }

// Calls body(run of the input, run of the result) along the axis "dim".
template <typename Body>
void along(const Evaluation& e, Body body) {
  const Array& in = *e.in[0];
  const int axis = e.call.axis("dim", static_cast<int>(in.shape.size()));
  const Around from(in.shape, axis), to(e.out.shape, axis);
  std::vector<double> run(static_cast<std::size_t>(from.length)), result(static_cast<std::size_t>(to.length));
  for (std::int64_t i = 0; i < from.outer * from.inner; ++i) {
    const std::int64_t outer = i / from.inner, inner = i % from.inner;
    for (std::int64_t k = 0; k < from.length; ++k) run[static_cast<std::size_t>(k)] = in.values[static_cast<std::size_t>((outer * from.length + k) * from.inner + inner)];
    body(run, result);
    for (std::int64_t k = 0; k < to.length; ++k) e.out.values[static_cast<std::size_t>((outer * to.length + k) * to.inner + inner)] = result[static_cast<std::size_t>(k)];
  }
}

void cumsum(const Evaluation& e) {
  along(e, [](const std::vector<double>& x, std::vector<double>& y) { std::partial_sum(x.begin(), x.end(), y.begin()); });
}
void cumprod(const Evaluation& e) {
  along(e, [](const std::vector<double>& x, std::vector<double>& y) { std::partial_sum(x.begin(), x.end(), y.begin(), std::multiplies<>()); });
}
void logcumsumexp(const Evaluation& e) {
  along(e, [](const std::vector<double>& x, std::vector<double>& y) {
    double top = -INFINITY, total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] > top) total = std::isinf(top) ? 0 : total * std::exp(top - x[i]), top = x[i];
      total += std::isinf(top) && top < 0 ? 0 : std::exp(x[i] - top);
      y[i] = top + std::log(total);
    }
  });
}
// PyTorch names the last of equal extremes.
template <int sign, bool index>
void extreme(const Evaluation& e) {
  along(e, [](const std::vector<double>& x, std::vector<double>& y) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) || (!std::isnan(x[best]) && sign * x[i] >= sign * x[best])) best = i;
      y[i] = index ? static_cast<double>(best) : x[best];
    }
  });
}
std::vector<std::size_t> ordered(const std::vector<double>& x, bool descending) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // NaN counts as the largest number.
  const auto less = [](double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); };
  // Ties keep their order; comparing positions says so, because std::stable_sort draws a deprecation warning from
  // Clang with libstdc++ 12.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (descending ? less(x[b], x[a]) : less(x[a], x[b])) return true;
    if (descending ? less(x[a], x[b]) : less(x[b], x[a])) return false;
    return a < b;
  });
  return order;
}
template <bool index>
void sort(const Evaluation& e) {
  const bool descending = e.call.node().function.starts_with("topk") ? e.call.truth("largest") : e.call.truth("descending");
  along(e, [&](const std::vector<double>& x, std::vector<double>& y) {
    const std::vector<std::size_t> order = ordered(x, descending);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = index ? static_cast<double>(order[i]) : x[order[i]];
  });
}

}  // namespace

std::vector<Row> scan_rows() {
  return {
      {"cumsum(input, dim: int)", "torch .", scan_type, cumsum},
      {"cumprod(input, dim: int)", "torch .", scan_type, cumprod},
      {"logcumsumexp(input, dim: int)", "torch .", same_type, logcumsumexp},
      {"cummax(input, dim: int)", "", same_type, extreme<1, false>},
      {"cummax_index(input, dim: int)", "", index_type, extreme<1, true>},
      {"cummin(input, dim: int)", "", same_type, extreme<-1, false>},
      {"cummin_index(input, dim: int)", "", index_type, extreme<-1, true>},
      {"sort(input, dim: int = -1, descending: truth = False)", "", same_type, sort<false>},
      {"argsort(input, dim: int = -1, descending: truth = False)", "torch .", index_type, sort<true>},
      {"topk(input, k: int, dim: int = -1, largest: truth = True)", "", topk_type, sort<false>},
      {"topk_index(input, k: int, dim: int = -1, largest: truth = True)", "", topk_index_type, sort<true>},
  };
}

}  // namespace cudal1::tensor
