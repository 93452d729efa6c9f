// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// The pooled axes are the last ones; what stands before them is a batch of planes.
void need_rank(const Call& call, int axes) {
  const int count = rank(call.type(0));
  if (count != axes + 1 && count != axes + 2) throw Refusal(fmt::format("the input {} needs {} or {} dimensions", to_string(call.type(0).shape), axes + 2, axes + 1));
}

struct Windows {
  std::vector<Quantity> kernel, stride, padding, dilation;
};
Windows windows(const Call& call, int axes) {
  Windows w;
  w.kernel = call.quantities("kernel_size", axes);
  w.stride = call.has("stride") && !call.quantities("stride").empty() ? call.quantities("stride", axes) : w.kernel;
  w.padding = call.quantities("padding", axes);
  w.dilation = call.node().attributes.count("dilation") != 0 ? call.quantities("dilation", axes) : std::vector<Quantity>(static_cast<std::size_t>(axes), call.constant(1));
  for (std::size_t i = 0; i < w.kernel.size(); ++i)
    for (std::size_t at = 0; at < call.assignments(); ++at) {
      const Number &k = w.kernel[i].values[at], &s = w.stride[i].values[at], &p = w.padding[i].values[at], &d = w.dilation[i].values[at];
      if (k.real || s.real || p.real || d.real || k.integer < 1 || s.integer < 1 || d.integer < 1 || p.integer < 0)
        throw Refusal("kernel_size, stride and dilation must be positive and padding not negative");
      if (p.integer > k.integer / 2) throw Refusal("padding is more than half the kernel");
    }
  return w;
}

// Whether a window may start behind the input when extents are rounded up: one shorter than padding and a stride.
bool short_windows(const Windows& w, std::size_t axis) {
  for (std::size_t at = 0; at < w.kernel[axis].values.size(); ++at) {
    const auto of = [&](const Quantity& quantity) { return quantity.values[at].integer; };
    if (of(w.dilation[axis]) * (of(w.kernel[axis]) - 1) + 1 < of(w.padding[axis]) + of(w.stride[axis])) return true;
  }
  return false;
}

template <int axes>
Type pool_type(const Call& call) {
  need_rank(call, axes);
  const Windows w = windows(call, axes);
  const bool ceil = call.truth("ceil_mode");
  Type type = call.type(0);
  if (call.node().function.starts_with("avg")) type.dtype = floating(type.dtype);
  const std::size_t front = type.shape.size() - axes;
  for (std::size_t i = 0; i < axes; ++i) {
    const Quantity in = Quantity::of(type.shape[front + i]), one = call.constant(1);
    const Quantity span = in + w.padding[i] * call.constant(2) - (w.dilation[i] * (w.kernel[i] - one) + one);
    for (const Number& value : span.values)
      if (value.integer < 0) throw Refusal(fmt::format("the window is larger than the padded input along axis {}", front + i));
    Quantity out = (ceil ? ceil_div(span, w.stride[i]) : span / w.stride[i]) + one;
    // The last window must start inside the input or its left padding.
    if (ceil && short_windows(w, i)) out = minimum(out, ceil_div(in + w.padding[i], w.stride[i]));
    type.shape[front + i] = out.extent();
  }
  return type;
}

using Axes = std::array<std::int64_t, 3>;
struct Geometry {
  Axes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};
};
template <int axes>
Geometry geometry(const Evaluation& e) {
  Geometry g;
  const Windows w = windows(e.call, axes);
  const std::size_t front = e.out.shape.size() - axes;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t to = 3 - axes + i;
    g.in[to] = e.in[0]->shape[front + i];
    g.out[to] = e.out.shape[front + i];
    g.kernel[to] = w.kernel[i].values[0].integer;
    g.stride[to] = w.stride[i].values[0].integer;
    g.padding[to] = w.padding[i].values[0].integer;
    g.dilation[to] = w.dilation[i].values[0].integer;
  }
  return g;
}

// Calls body(plane of the input, first and last index of the window per axis in the input, step) -> result.
template <typename Body>
void for_windows(const Evaluation& e, const Geometry& g, Body body) {
  const std::int64_t in_plane = g.in[0] * g.in[1] * g.in[2], out_plane = g.out[0] * g.out[1] * g.out[2];
  if (out_plane == 0 || in_plane == 0) return;
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()) / out_plane, std::max<std::int64_t>(1, 32768 / out_plane), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t plane = first; plane < last; ++plane) {
      const double* in = e.in[0]->values.data() + plane * in_plane;
      double* out = e.out.values.data() + plane * out_plane;
      for (std::int64_t z = 0; z < g.out[0]; ++z)
        for (std::int64_t y = 0; y < g.out[1]; ++y)
          for (std::int64_t x = 0; x < g.out[2]; ++x) *out++ = body(in, Axes{z, y, x});
    }
  });
}

template <int axes>
void max_pool(const Evaluation& e) {
  const Geometry g = geometry<axes>(e);
  for_windows(e, g, [&](const double* in, const Axes& at) {
    double best = -INFINITY;
    for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz)
      for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky)
        for (std::int64_t kx = 0; kx < g.kernel[2]; ++kx) {
          const std::int64_t z = at[0] * g.stride[0] - g.padding[0] + kz * g.dilation[0], y = at[1] * g.stride[1] - g.padding[1] + ky * g.dilation[1],
                             x = at[2] * g.stride[2] - g.padding[2] + kx * g.dilation[2];
          if (z < 0 || y < 0 || x < 0 || z >= g.in[0] || y >= g.in[1] || x >= g.in[2]) continue;
          const double value = in[(z * g.in[1] + y) * g.in[2] + x];
          if (value > best || std::isnan(value)) best = value;
          if (std::isnan(value)) return value;
        }
    return best;
  });
}
template <int axes>
void avg_pool(const Evaluation& e) {
  const Geometry g = geometry<axes>(e);
  const bool include = e.call.truth("count_include_pad");
  const double fixed = e.call.has("divisor_override") ? e.call.number("divisor_override") : 0;
  for_windows(e, g, [&](const double* in, const Axes& at) {
    Axes first, last;
    double padded = 1, inside = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      first[i] = at[i] * g.stride[i] - g.padding[i];
      last[i] = std::min(first[i] + g.kernel[i], g.in[i] + g.padding[i]);
      padded *= static_cast<double>(last[i] - first[i]);
      first[i] = std::max<std::int64_t>(first[i], 0);
      last[i] = std::min(last[i], g.in[i]);
      inside *= static_cast<double>(std::max<std::int64_t>(0, last[i] - first[i]));
    }
    double total = 0;
    for (std::int64_t z = first[0]; z < last[0]; ++z)
      for (std::int64_t y = first[1]; y < last[1]; ++y)
        for (std::int64_t x = first[2]; x < last[2]; ++x) total += in[(z * g.in[1] + y) * g.in[2] + x];
    return total / (fixed != 0 ? fixed : include ? padded : inside);
  });
}

template <int axes>
Type adaptive_type(const Call& call) {
  need_rank(call, axes);
  Type type = call.type(0);
  const std::size_t front = type.shape.size() - axes;
  const std::vector<Quantity> size = call.quantities("output_size", axes);
  for (std::size_t i = 0; i < axes; ++i) {
    type.shape[front + i] = size[i].extent();
    for (const std::int64_t value : type.shape[front + i].values)
      if (value < 1) throw Refusal("output_size must be positive");
    for (const std::int64_t value : call.type(0).shape[front + i].values)
      if (value < 1) throw Refusal("the input is empty");
  }
  return type;
}
template <int axes, bool maximum>
void adaptive(const Evaluation& e) {
  Geometry g;
  const std::size_t front = e.out.shape.size() - axes;
  for (std::size_t i = 0; i < axes; ++i) {
    g.in[3 - axes + i] = e.in[0]->shape[front + i];
    g.out[3 - axes + i] = e.out.shape[front + i];
  }
  for_windows(e, g, [&](const double* in, const Axes& at) {
    Axes first, last;
    for (std::size_t i = 0; i < 3; ++i) {
      first[i] = at[i] * g.in[i] / g.out[i];
      last[i] = ((at[i] + 1) * g.in[i] + g.out[i] - 1) / g.out[i];
    }
    double total = maximum ? -INFINITY : 0, count = 0;
    for (std::int64_t z = first[0]; z < last[0]; ++z)
      for (std::int64_t y = first[1]; y < last[1]; ++y)
        for (std::int64_t x = first[2]; x < last[2]; ++x, ++count) {
          const double value = in[(z * g.in[1] + y) * g.in[2] + x];
          if (!maximum) total += value;
          else if (value > total || std::isnan(value)) total = value;
        }
    return maximum ? total : total / count;
  });
}

template <int axes>
double pool_work(const Call& call, const Type& result) {
  double count = 1;
  for (const Extent& extent : result.shape) count *= static_cast<double>(extent.values.front());
  for (const Quantity& each : call.quantities("kernel_size", axes)) count *= each.values[0].value;
  return count;
}
double adaptive_work(const Call& call, const Type&) {
  double count = 1;
  for (const Extent& extent : call.type(0).shape) count *= static_cast<double>(extent.values.front());
  return count;
}

}  // namespace

std::vector<Row> pooling_rows() {
  return {
      {"max_pool1d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, dilation: ints = 1, ceil_mode: truth = False)", "torch F", pool_type<1>, max_pool<1>, pool_work<1>},
      {"max_pool2d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, dilation: ints = 1, ceil_mode: truth = False)", "torch F", pool_type<2>, max_pool<2>, pool_work<2>},
      {"max_pool3d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, dilation: ints = 1, ceil_mode: truth = False)", "torch F", pool_type<3>, max_pool<3>, pool_work<3>},
      {"avg_pool1d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, ceil_mode: truth = False, count_include_pad: truth = True, divisor_override: int = None)",
       "torch F", pool_type<1>, avg_pool<1>, pool_work<1>},
      {"avg_pool2d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, ceil_mode: truth = False, count_include_pad: truth = True, divisor_override: int = None)",
       "F", pool_type<2>, avg_pool<2>, pool_work<2>},
      {"avg_pool3d(input, kernel_size: ints, stride: ints = None, padding: ints = 0, ceil_mode: truth = False, count_include_pad: truth = True, divisor_override: int = None)",
       "F", pool_type<3>, avg_pool<3>, pool_work<3>},
      {"adaptive_avg_pool1d(input, output_size: ints)", "torch F", adaptive_type<1>, adaptive<1, false>, adaptive_work},
      {"adaptive_avg_pool2d(input, output_size: ints)", "F", adaptive_type<2>, adaptive<2, false>, adaptive_work},
      {"adaptive_avg_pool3d(input, output_size: ints)", "F", adaptive_type<3>, adaptive<3, false>, adaptive_work},
      {"adaptive_max_pool1d(input, output_size: ints)", "torch F", adaptive_type<1>, adaptive<1, true>, adaptive_work},
      {"adaptive_max_pool2d(input, output_size: ints)", "F", adaptive_type<2>, adaptive<2, true>, adaptive_work},
      {"adaptive_max_pool3d(input, output_size: ints)", "F", adaptive_type<3>, adaptive<3, true>, adaptive_work},
  };
}

}  // namespace cudal1::tensor
