// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

Type softmax_type(const Call& call) {
  call.axis("dim", rank(call.type(0)));
  return {parse_dtype(call.word("dtype")).value_or(floating(call.type(0).dtype)), call.type(0).shape};
}

// Calls body(values side by side, count) for each run along an axis and writes the run back.
template <typename Body>
void along(const Evaluation& e, int axis, Body body) {
  const Around around(e.out.shape, axis);
  parallel(e.threads, around.outer * around.inner, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, around.length)), [&](std::int64_t first, std::int64_t last) {
    std::vector<double> run(static_cast<std::size_t>(around.length));
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t start = i / around.inner * around.length * around.inner + i % around.inner;
      for (std::int64_t k = 0; k < around.length; ++k) run[static_cast<std::size_t>(k)] = e.in[0]->values[static_cast<std::size_t>(start + k * around.inner)];
      body(run);
      for (std::int64_t k = 0; k < around.length; ++k) e.out.values[static_cast<std::size_t>(start + k * around.inner)] = run[static_cast<std::size_t>(k)];
    }
  });
}
void softmax(const Evaluation& e) {
  along(e, e.call.axis("dim", static_cast<int>(e.out.shape.size())), [](std::vector<double>& run) {
    const double top = run.empty() ? 0 : *std::max_element(run.begin(), run.end());
    for (double& value : run) value = std::exp(value - top);
    const double total = sum(run.data(), static_cast<std::int64_t>(run.size()));
    for (double& value : run) value /= total;
  });
}
void log_softmax(const Evaluation& e) {
  along(e, e.call.axis("dim", static_cast<int>(e.out.shape.size())), [](std::vector<double>& run) {
    const double top = run.empty() ? 0 : *std::max_element(run.begin(), run.end());
    double total = 0;
    for (const double value : run) total += std::exp(value - top);
    for (double& value : run) value = value - top - std::log(total);
  });
}

void check_shape(const Call& call, const char* parameter, const Shape& wanted) {
  const int operand = call.index(parameter);
  if (operand >= 0 && !(call.type(operand).shape == wanted))
    throw Refusal(fmt::format("{} is {}, not {}", parameter, to_string(call.type(operand).shape), to_string(wanted)));
}
Type layer_type(const Call& call) {
  const Shape& in = call.type(0).shape;
  const std::vector<Quantity> normalized = call.quantities("normalized_shape");
  if (normalized.empty() || normalized.size() > in.size()) throw Refusal("normalized_shape names the last dimensions of the input");
  const Shape last(in.end() - static_cast<std::ptrdiff_t>(normalized.size()), in.end());
  Shape wanted;
  for (const Quantity& each : normalized) wanted.push_back(each.extent());
  if (!(wanted == last)) throw Refusal(fmt::format("normalized_shape is {}, but the input ends in {}", to_string(wanted), to_string(last)));
  check_shape(call, "weight", wanted);
  if (call.node().function == "layer_norm") check_shape(call, "bias", wanted);
  return {floating(call.type(0).dtype), in};
}
double weight_at(const Array* weight, std::int64_t i) { return weight == nullptr ? 1 : weight->values[static_cast<std::size_t>(i)]; }
double bias_at(const Array* bias, std::int64_t i) { return bias == nullptr ? 0 : bias->values[static_cast<std::size_t>(i)]; }

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const double* x, std::int64_t n) {
  Moments m;
  m.mean = sum(x, n) / static_cast<double>(n);
  double squares = 0, rest = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += (x[i] - m.mean) * (x[i] - m.mean), rest += x[i] - m.mean;
  m.variance = std::max(0.0, squares - rest * rest / static_cast<double>(n)) / static_cast<double>(n);
  m.mean += rest / static_cast<double>(n);
  return m;
}

void layer_norm(const Evaluation& e) {
  const Array *weight = e.operand("weight"), *bias = e.operand("bias");
  const double eps = e.call.number("eps");
  std::int64_t n = 1;
  for (const Quantity& each : e.call.quantities("normalized_shape")) n *= each.values[0].integer;
  if (e.out.values.empty()) return;
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()) / n, std::max<std::int64_t>(1, 32768 / n), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const double* x = e.in[0]->values.data() + row * n;
      const Moments m = moments(x, n);
      const double scale = 1 / std::sqrt(m.variance + eps);
      for (std::int64_t i = 0; i < n; ++i) e.out.values[static_cast<std::size_t>(row * n + i)] = (x[i] - m.mean) * scale * weight_at(weight, i) + bias_at(bias, i);
    }
  });
}
void rms_norm(const Evaluation& e) {
  const Array* weight = e.operand("weight");
  double eps = e.call.has("eps") ? e.call.number("eps") : 0;
  if (!e.call.has("eps")) eps = e.call.type(0).dtype == Dtype::float64 ? 0x1p-52 : e.call.type(0).dtype == Dtype::float16 ? 0x1p-10 : e.call.type(0).dtype == Dtype::bfloat16 ? 0x1p-7 : 0x1p-23;
  std::int64_t n = 1;
  for (const Quantity& each : e.call.quantities("normalized_shape")) n *= each.values[0].integer;
  if (e.out.values.empty()) return;
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()) / n, std::max<std::int64_t>(1, 32768 / n), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const double* x = e.in[0]->values.data() + row * n;
      double squares = 0;
      for (std::int64_t i = 0; i < n; ++i) squares += x[i] * x[i];
      const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
      for (std::int64_t i = 0; i < n; ++i) e.out.values[static_cast<std::size_t>(row * n + i)] = x[i] * scale * weight_at(weight, i);
    }
  });
}

Shape channels(const Call& call) {
  if (rank(call.type(0)) < 2) throw Refusal("the input needs a batch and channels");
  return {call.type(0).shape[1]};
}
Type channel_type(const Call& call) {
  const Shape wanted = channels(call);
  for (const char* parameter : {"weight", "bias"}) check_shape(call, parameter, wanted);
  return {floating(call.type(0).dtype), call.type(0).shape};
}
Type group_type(const Call& call) {
  const Type type = channel_type(call);
  const std::int64_t groups = call.integer("num_groups");
  for (const std::int64_t value : type.shape[1].values)
    if (groups < 1 || value % groups != 0) throw Refusal(fmt::format("{} channels do not split into {} groups", type.shape[1].text, groups));
  return type;
}
// Normalises runs of `length` elements; the element i of the array has the channel i / inner % channels.
void normalize_runs(const Evaluation& e, std::int64_t length) {
  const Array *weight = e.operand("weight"), *bias = e.operand("bias");
  const double eps = e.call.number("eps");
  const Around channel(e.out.shape, 1);
  if (e.out.values.empty()) return;
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()) / length, std::max<std::int64_t>(1, 32768 / length), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t run = first; run < last; ++run) {
      const double* x = e.in[0]->values.data() + run * length;
      const Moments m = moments(x, length);
      const double scale = 1 / std::sqrt(m.variance + eps);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t c = (run * length + i) / channel.inner % channel.length;
        e.out.values[static_cast<std::size_t>(run * length + i)] = (x[i] - m.mean) * scale * weight_at(weight, c) + bias_at(bias, c);
      }
    }
  });
}
void group_norm(const Evaluation& e) {
  const Around channel(e.out.shape, 1);
  normalize_runs(e, channel.length / e.call.integer("num_groups") * channel.inner);
}
Type batch_type(const Call& call) {
  const Shape wanted = channels(call);
  for (const char* parameter : {"running_mean", "running_var"}) check_shape(call, parameter, wanted);
  const bool given = call.index("running_mean") >= 0 && call.index("running_var") >= 0;
  const bool own = call.truth(call.node().function == "batch_norm" ? "training" : "use_input_stats");
  if (!given && !own) throw Refusal("without running statistics, training must be True");
  return channel_type(call);
}
// With given statistics, batch and instance norm are one affine map per channel.
void given_statistics(const Evaluation& e) {
  const Array *mean = e.operand("running_mean"), *variance = e.operand("running_var"), *weight = e.operand("weight"), *bias = e.operand("bias");
  const double eps = e.call.number("eps");
  const Around channel(e.out.shape, 1);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(e.out.values.size()); ++i) {
    const std::int64_t c = i / channel.inner % channel.length;
    const auto at = static_cast<std::size_t>(c);
    e.out.values[static_cast<std::size_t>(i)] = (e.in[0]->values[static_cast<std::size_t>(i)] - mean->values[at]) / std::sqrt(variance->values[at] + eps) * weight_at(weight, c) + bias_at(bias, c);
  }
}
void instance_norm(const Evaluation& e) {
  if (!e.call.truth("use_input_stats")) return given_statistics(e);
  normalize_runs(e, Around(e.out.shape, 1).inner);
}
void batch_norm(const Evaluation& e) {
  if (!e.call.truth("training")) return given_statistics(e);
  const Array *weight = e.operand("weight"), *bias = e.operand("bias");
  const double eps = e.call.number("eps");
  const Around channel(e.out.shape, 1);
  if (e.out.values.empty()) return;
  parallel(e.threads, channel.length, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> run(static_cast<std::size_t>(channel.outer * channel.inner));
    for (std::int64_t c = first; c < last; ++c) {
      const auto start = [&](std::int64_t n) { return static_cast<std::ptrdiff_t>((n * channel.length + c) * channel.inner); };
      for (std::int64_t n = 0; n < channel.outer; ++n) std::copy_n(e.in[0]->values.begin() + start(n), channel.inner, run.begin() + n * channel.inner);
      const Moments m = moments(run.data(), static_cast<std::int64_t>(run.size()));
      const double scale = 1 / std::sqrt(m.variance + eps);
      for (std::int64_t n = 0; n < channel.outer; ++n)
        for (std::int64_t i = 0; i < channel.inner; ++i)
          e.out.values[static_cast<std::size_t>(start(n) + i)] = (run[static_cast<std::size_t>(n * channel.inner + i)] - m.mean) * scale * weight_at(weight, c) + bias_at(bias, c);
    }
  });
}
Type local_type(const Call& call) {
  channels(call);
  if (call.integer("size") < 1) throw Refusal("size must be positive");
  return {floating(call.type(0).dtype), call.type(0).shape};
}
void local_response_norm(const Evaluation& e) {
  const std::int64_t size = e.call.integer("size");
  const double alpha = e.call.number("alpha"), beta = e.call.number("beta"), k = e.call.number("k");
  const Around channel(e.out.shape, 1);
  const double* in = e.in[0]->values.data();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(e.out.values.size()); ++i) {
    const std::int64_t c = i / channel.inner % channel.length;
    double squares = 0;
    for (std::int64_t d = std::max<std::int64_t>(0, c - size / 2); d < std::min(channel.length, c + size - size / 2); ++d) {
      const double value = in[i + (d - c) * channel.inner];
      squares += value * value;
    }
    e.out.values[static_cast<std::size_t>(i)] = in[i] / std::pow(k + alpha * squares / static_cast<double>(size), beta);
  }
}

double several(const Call&, const Type& result) {
  double count = 5;
  for (const Extent& extent : result.shape) count *= static_cast<double>(extent.values.front());
  return count;
}

}  // namespace

std::vector<Row> normalization_rows() {
  return {
      {"softmax(input, dim: int, dtype: dtype = None)", "torch F .", softmax_type, softmax, several},
      {"log_softmax(input, dim: int, dtype: dtype = None)", "torch F .", softmax_type, log_softmax, several},
      {"layer_norm(input, normalized_shape: ints, weight = None, bias = None, eps: number = 0.00001)", "torch F", layer_type, layer_norm, several},
      {"rms_norm(input, normalized_shape: ints, weight = None, eps: number = None)", "torch F", layer_type, rms_norm, several},
      {"group_norm(input, num_groups: int, weight = None, bias = None, eps: number = 0.00001)", "torch F", group_type, group_norm, several},
      {"instance_norm(input, running_mean = None, running_var = None, weight = None, bias = None, use_input_stats: truth = True, momentum: number = 0.1, eps: number = 0.00001)",
       "torch F", batch_type, instance_norm, several},
      {"batch_norm(input, running_mean = None, running_var = None, weight = None, bias = None, training: truth = False, momentum: number = 0.1, eps: number = 0.00001)",
       "torch F", batch_type, batch_norm, several},
      {"local_response_norm(input, size: int, alpha: number = 0.0001, beta: number = 0.75, k: number = 1.0)", "F", local_type, local_response_norm, several},
  };
}

}  // namespace cudal1::tensor
