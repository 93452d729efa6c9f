// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// Input [batch, classes, …] or [classes]; the target holds class indices [batch, …], or probabilities shaped as the input.
bool probabilities(const Call& call) { return call.node().function == "cross_entropy" && call.type(1).shape == call.type(0).shape && is_floating(call.type(1).dtype); }

Type class_type(const Call& call) {
  const Shape &in = call.type(0).shape, &target = call.type(1).shape;
  if (in.empty()) throw Refusal("the input needs classes");
  const std::size_t axis = in.size() == 1 ? 0 : 1;
  Shape wanted = in;
  wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!probabilities(call)) {
    if (!(target == wanted)) throw Refusal(fmt::format("the target {} does not fit the input {}", to_string(target), to_string(in)));
    if (is_floating(call.type(1).dtype)) throw Refusal("the target must hold integers");
  }
  const int weight = call.index("weight");
  if (weight >= 0 && (rank(call.type(weight)) != 1 || !(call.type(weight).shape[0] == in[axis]))) throw Refusal(fmt::format("the weight needs {} numbers", in[axis].text));
  const std::string reduction = call.word("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") throw Refusal("reduction is 'mean', 'sum' or 'none'");
  call.integer("ignore_index");
  return {floating(call.type(0).dtype), reduction == "none" ? wanted : Shape{}};
}

// Both losses from log probabilities laid out as [outer, classes, inner].
void reduce_loss(const Evaluation& e, const std::vector<double>& logs, double smoothing) {
  const Array &in = *e.in[0], &target = *e.in[1];
  const Around around(in.shape, in.shape.size() == 1 ? 0 : 1);
  const Array* weight = e.operand("weight");
  const std::int64_t ignored = e.call.integer("ignore_index"), classes = around.length;
  const std::string reduction = e.call.word("reduction");
  const bool soft = probabilities(e.call);
  const auto weight_of = [&](std::int64_t c) { return weight == nullptr ? 1 : weight->values[static_cast<std::size_t>(c)]; };
  std::vector<double> losses, weights;
  for (std::int64_t i = 0; i < around.outer * around.inner; ++i) {
    const std::int64_t start = i / around.inner * classes * around.inner + i % around.inner;
    const auto log_of = [&](std::int64_t c) { return logs[static_cast<std::size_t>(start + c * around.inner)]; };
    double loss = 0, total = 1;
    if (soft) {
      for (std::int64_t c = 0; c < classes; ++c) {
        const double p = target.values[static_cast<std::size_t>(start + c * around.inner)] * (1 - smoothing) + smoothing / static_cast<double>(classes);
        loss -= weight_of(c) * p * log_of(c);
      }
    } else {
      const double named = target.values[static_cast<std::size_t>(i)];
      if (!(std::abs(named) < 0x1p62)) throw Refusal("the target is out of range");
      const auto c = static_cast<std::int64_t>(named);
      if (c == ignored) {
        losses.push_back(0);
        weights.push_back(0);
        continue;
      }
      if (c < 0 || c >= classes) throw Refusal(fmt::format("the target names class {} of {}", c, classes));
      total = weight_of(c);
      loss = -total * log_of(c) * (1 - smoothing);
      if (smoothing != 0)
        for (std::int64_t k = 0; k < classes; ++k) loss -= smoothing / static_cast<double>(classes) * weight_of(k) * log_of(k);
    }
    losses.push_back(loss);
    weights.push_back(total);
  }
  if (reduction == "none") {
    e.out.values = losses;
    return;
  }
  const auto count = static_cast<std::int64_t>(losses.size());
  e.out.values[0] = sum(losses.data(), count);
  if (reduction == "mean") e.out.values[0] /= sum(weights.data(), count);
}
void nll_loss(const Evaluation& e) { reduce_loss(e, e.in[0]->values, 0); }
void cross_entropy(const Evaluation& e) {
  const Array& in = *e.in[0];
  const Around around(in.shape, in.shape.size() == 1 ? 0 : 1);
  std::vector<double> logs = in.values;
  for (std::int64_t i = 0; i < around.outer * around.inner; ++i) {
    double* run = logs.data() + i / around.inner * around.length * around.inner + i % around.inner;
    double top = -INFINITY, total = 0;
    for (std::int64_t c = 0; c < around.length; ++c) top = std::max(top, run[c * around.inner]);
    for (std::int64_t c = 0; c < around.length; ++c) total += std::exp(run[c * around.inner] - top);
    for (std::int64_t c = 0; c < around.length; ++c) run[c * around.inner] -= top + std::log(total);
  }
  reduce_loss(e, logs, e.call.number("label_smoothing"));
}
double work(const Call& call, const Type&) {
  double count = 4;
  for (const Extent& extent : call.type(0).shape) count *= static_cast<double>(extent.values.front());
  return count;
}

}  // namespace

std::vector<Row> loss_rows() {
  return {
      {"cross_entropy(input, target, weight = None, size_average: truth = None, ignore_index: int = -100, reduce: truth = None, reduction: word = 'mean', label_smoothing: number = 0.0)",
       "F", class_type, cross_entropy, work},
      {"nll_loss(input, target, weight = None, size_average: truth = None, ignore_index: int = -100, reduce: truth = None, reduction: word = 'mean')", "F", class_type, nll_loss, work},
  };
}

}  // namespace cudal1::tensor
