// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Axes = std::array<std::int64_t, 3>;

Quantity dilated(const Call& call, const Quantity& kernel, const Quantity& dilation) {
  return dilation * (kernel - call.constant(1)) + call.constant(1);
}

void need_positive(const std::vector<Quantity>& list, const char* name, std::int64_t least) {
  for (const Quantity& each : list)
    for (const Number& value : each.values)
      if (value.real || value.integer < least) throw Refusal(fmt::format("{} must be at least {}", name, least));
}

// Total padding along each axis: a number for each side, or the words 'same' and 'valid'.
struct Padding {
  std::vector<Quantity> before, total;
};
Padding padding_of(const Call& call, int axes, const std::vector<Quantity>& kernel, const std::vector<Quantity>& stride) {
  Padding padding;
  const std::string word = call.word("padding");
  if (!word.empty()) {
    if (word != "same" && word != "valid") throw Refusal("padding is a number, 'same' or 'valid'");
    for (int i = 0; i < axes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (word == "same")
        for (const Number& value : stride[at].values)
          if (value.integer != 1) throw Refusal("padding 'same' needs a stride of 1");
      padding.total.push_back(word == "same" ? kernel[at] - call.constant(1) : call.constant(0));
      padding.before.push_back(padding.total.back() / call.constant(2));
    }
    return padding;
  }
  padding.before = call.quantities("padding", axes);
  need_positive(padding.before, "padding", 0);
  for (const Quantity& each : padding.before) padding.total.push_back(each * call.constant(2));
  return padding;
}

// A convolution's input is [batch, channels, …], or without the batch.
bool batched(const Call& call, int axes) {
  const int count = rank(call.type(0));
  if (count != axes + 1 && count != axes + 2) throw Refusal(fmt::format("the input {} needs {} or {} dimensions", to_string(call.type(0).shape), axes + 2, axes + 1));
  return count == axes + 2;
}
void check_weight(const Call& call, int axes) {
  if (rank(call.type(1)) != axes + 2) throw Refusal(fmt::format("the weight {} needs {} dimensions", to_string(call.type(1).shape), axes + 2));
}
void check_bias(const Call& call, const Extent& channels) {
  const int bias = call.index("bias");
  if (bias < 0) return;
  const Shape& shape = call.type(bias).shape;
  if (shape.size() != 1 || !(shape[0] == channels)) throw Refusal(fmt::format("the bias {} needs {} numbers", to_string(shape), channels.text));
}
std::int64_t groups_of(const Call& call) {
  const std::int64_t groups = call.integer("groups");
  if (groups < 1) throw Refusal("groups must be positive");
  return groups;
}

template <int axes>
Type conv_type(const Call& call) {
  const bool batch = batched(call, axes);
  check_weight(call, axes);
  const Shape &in = call.type(0).shape, &weight = call.type(1).shape;
  const std::int64_t groups = groups_of(call);
  const std::size_t front = batch ? 1 : 0;
  const Extent& channels = in[front];
  for (std::size_t i = 0; i < channels.values.size(); ++i)
    if (channels.values[i] != weight[1].values[i] * groups || weight[0].values[i] % groups != 0)
      throw Refusal(fmt::format("the weight {} does not fit {} channels in {} groups", to_string(weight), channels.text, groups));
  const std::vector<Quantity> stride = call.quantities("stride", axes), dilation = call.quantities("dilation", axes);
  need_positive(stride, "stride", 1);
  need_positive(dilation, "dilation", 1);
  std::vector<Quantity> kernel;
  for (std::size_t i = 0; i < axes; ++i) kernel.push_back(dilated(call, Quantity::of(weight[2 + i]), dilation[i]));
  const Padding padding = padding_of(call, axes, kernel, stride);
  Type type{promoted(call, {0, 1}), {}};
  if (batch) type.shape.push_back(in[0]);
  type.shape.push_back(weight[0]);
  for (std::size_t i = 0; i < axes; ++i) {
    const Quantity span = Quantity::of(in[front + 1 + i]) + padding.total[i] - kernel[i];
    for (const Number& value : span.values)
      if (value.integer < 0) throw Refusal(fmt::format("the kernel is larger than the padded input along axis {}", front + 1 + i));
    type.shape.push_back((span / stride[i] + call.constant(1)).extent());
  }
  check_bias(call, weight[0]);
  return type;
}

template <int axes>
Type conv_transpose_type(const Call& call) {
  const bool batch = batched(call, axes);
  check_weight(call, axes);
  const Shape &in = call.type(0).shape, &weight = call.type(1).shape;
  const std::int64_t groups = groups_of(call);
  const std::size_t front = batch ? 1 : 0;
  for (std::size_t i = 0; i < in[front].values.size(); ++i)
    if (in[front].values[i] != weight[0].values[i] || weight[0].values[i] % groups != 0)
      throw Refusal(fmt::format("the weight {} does not fit {} channels in {} groups", to_string(weight), in[front].text, groups));
  const std::vector<Quantity> stride = call.quantities("stride", axes), dilation = call.quantities("dilation", axes);
  const std::vector<Quantity> padding = call.quantities("padding", axes), extra = call.quantities("output_padding", axes);
  need_positive(stride, "stride", 1);
  need_positive(dilation, "dilation", 1);
  need_positive(padding, "padding", 0);
  need_positive(extra, "output_padding", 0);
  Type type{promoted(call, {0, 1}), {}};
  if (batch) type.shape.push_back(in[0]);
  type.shape.push_back((Quantity::of(weight[1]) * call.constant(groups)).extent());
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t at = 0; at < extra[i].values.size(); ++at)
      if (extra[i].values[at].integer >= std::max(stride[i].values[at].integer, dilation[i].values[at].integer))
        throw Refusal("output_padding must be smaller than stride or dilation");
    const Quantity kernel = dilated(call, Quantity::of(weight[2 + i]), dilation[i]);
    const Quantity extent = (Quantity::of(in[front + 1 + i]) - call.constant(1)) * stride[i] - padding[i] * call.constant(2) + kernel + extra[i];
    for (const Number& value : extent.values)
      if (value.integer < 1) throw Refusal("the result is empty");
    type.shape.push_back(extent.extent());
  }
  check_bias(call, type.shape[front]);
  return type;
}

// Every convolution as a three-dimensional one: missing axes come first and have extent 1.
struct Geometry {
  std::int64_t batch = 1, channels_in = 1, channels_out = 1, groups = 1;
  Axes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, padding{0, 0, 0};
};
template <int axes>
Geometry geometry(const Evaluation& e, bool transposed) {
  Geometry g;
  const Array &in = *e.in[0], &weight = *e.in[1];
  const std::size_t front = in.shape.size() == axes + 2 ? 1 : 0;
  g.batch = front == 1 ? in.shape[0] : 1;
  g.channels_in = in.shape[front];
  g.channels_out = e.out.shape[front];
  g.groups = groups_of(e.call);
  const auto stride = e.call.integers("stride", axes), dilation = e.call.integers("dilation", axes);
  std::vector<std::int64_t> padding;
  if (transposed) {
    padding = e.call.integers("padding", axes);
  } else {
    std::vector<Quantity> kernel;
    for (std::size_t i = 0; i < axes; ++i) kernel.push_back(e.call.constant(dilation[i] * (weight.shape[2 + i] - 1) + 1));
    for (const Quantity& each : padding_of(e.call, axes, kernel, e.call.quantities("stride", axes)).before) padding.push_back(each.values[0].integer);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t to = 3 - axes + i;
    g.in[to] = in.shape[front + 1 + i];
    g.out[to] = e.out.shape[front + 1 + i];
    g.kernel[to] = weight.shape[2 + i];
    g.stride[to] = stride[i];
    g.dilation[to] = dilation[i];
    g.padding[to] = padding[i];
  }
  return g;
}

// The results o in [first, last) whose source o * stride + shift lies in [0, extent).
std::pair<std::int64_t, std::int64_t> reach(std::int64_t shift, std::int64_t stride, std::int64_t extent, std::int64_t results) {
  const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t room = extent - 1 - shift;
  const std::int64_t last = room < 0 ? 0 : std::min(results, room / stride + 1);
  return {first, std::max(first, last)};
}

double bias_of(const Evaluation& e, std::int64_t channel) {
  const Array* bias = e.operand("bias");
  return bias == nullptr ? 0 : bias->values[static_cast<std::size_t>(channel)];
}

template <int axes>
void conv(const Evaluation& e) {
  const Geometry g = geometry<axes>(e, false);
  const std::int64_t in_plane = g.in[0] * g.in[1] * g.in[2], out_plane = g.out[0] * g.out[1] * g.out[2];
  const std::int64_t kernel = g.kernel[0] * g.kernel[1] * g.kernel[2];
  const std::int64_t group_in = g.channels_in / g.groups, group_out = g.channels_out / g.groups;
  const double *in = e.in[0]->values.data(), *weight = e.in[1]->values.data();
  parallel(e.threads, g.batch * g.channels_out, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t n = plane / g.channels_out, co = plane % g.channels_out, group = co / group_out;
      double* out = e.out.values.data() + plane * out_plane;
      std::fill_n(out, out_plane, bias_of(e, co));
      for (std::int64_t ci = 0; ci < group_in; ++ci) {
        const double* source = in + (n * g.channels_in + group * group_in + ci) * in_plane;
        const double* w = weight + (co * group_in + ci) * kernel;
        for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz)
          for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky)
            for (std::int64_t kx = 0; kx < g.kernel[2]; ++kx, ++w) {
              const std::int64_t dz = kz * g.dilation[0] - g.padding[0], dy = ky * g.dilation[1] - g.padding[1], dx = kx * g.dilation[2] - g.padding[2];
              const auto [z0, z1] = reach(dz, g.stride[0], g.in[0], g.out[0]);
              const auto [y0, y1] = reach(dy, g.stride[1], g.in[1], g.out[1]);
              const auto [x0, x1] = reach(dx, g.stride[2], g.in[2], g.out[2]);
              for (std::int64_t z = z0; z < z1; ++z)
                for (std::int64_t y = y0; y < y1; ++y) {
                  const double* from = source + ((z * g.stride[0] + dz) * g.in[1] + y * g.stride[1] + dy) * g.in[2] + dx;
                  double* to = out + (z * g.out[1] + y) * g.out[2];
                  const double value = *w;
                  if (g.stride[2] == 1)
                    for (std::int64_t x = x0; x < x1; ++x) to[x] += value * from[x];
                  else
                    for (std::int64_t x = x0; x < x1; ++x) to[x] += value * from[x * g.stride[2]];
                }
            }
      }
    }
  });
}

// The same walk with the roles of input and result exchanged.
template <int axes>
void conv_transpose(const Evaluation& e) {
  const Geometry g = geometry<axes>(e, true);
  const std::int64_t in_plane = g.in[0] * g.in[1] * g.in[2], out_plane = g.out[0] * g.out[1] * g.out[2];
  const std::int64_t kernel = g.kernel[0] * g.kernel[1] * g.kernel[2];
  const std::int64_t group_in = g.channels_in / g.groups, group_out = g.channels_out / g.groups;
  const double *in = e.in[0]->values.data(), *weight = e.in[1]->values.data();
  parallel(e.threads, g.batch * g.channels_out, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t n = plane / g.channels_out, co = plane % g.channels_out, group = co / group_out;
      double* out = e.out.values.data() + plane * out_plane;
      std::fill_n(out, out_plane, bias_of(e, co));
      for (std::int64_t ci = group * group_in; ci < (group + 1) * group_in; ++ci) {
        const double* source = in + (n * g.channels_in + ci) * in_plane;
        const double* w = weight + (ci * group_out + co % group_out) * kernel;
        for (std::int64_t kz = 0; kz < g.kernel[0]; ++kz)
          for (std::int64_t ky = 0; ky < g.kernel[1]; ++ky)
            for (std::int64_t kx = 0; kx < g.kernel[2]; ++kx, ++w) {
              const std::int64_t dz = kz * g.dilation[0] - g.padding[0], dy = ky * g.dilation[1] - g.padding[1], dx = kx * g.dilation[2] - g.padding[2];
              const auto [z0, z1] = reach(dz, g.stride[0], g.out[0], g.in[0]);
              const auto [y0, y1] = reach(dy, g.stride[1], g.out[1], g.in[1]);
              const auto [x0, x1] = reach(dx, g.stride[2], g.out[2], g.in[2]);
              for (std::int64_t z = z0; z < z1; ++z)
                for (std::int64_t y = y0; y < y1; ++y) {
                  double* to = out + ((z * g.stride[0] + dz) * g.out[1] + y * g.stride[1] + dy) * g.out[2] + dx;
                  const double* from = source + (z * g.in[1] + y) * g.in[2];
                  const double value = *w;
                  for (std::int64_t x = x0; x < x1; ++x) to[x * g.stride[2]] += value * from[x];
                }
            }
      }
    }
  });
}

double volume(const Shape& shape, std::size_t first) {
  double result = 1;
  for (std::size_t i = first; i < shape.size(); ++i) result *= static_cast<double>(shape[i].values.front());
  return result;
}
// Two operations per weight that meets an element: of the result, or of a transposed convolution's input.
double conv_work(const Call& call, const Type& result) { return 2 * volume(result.shape, 0) * volume(call.type(1).shape, 1); }
double conv_transpose_work(const Call& call, const Type&) { return 2 * volume(call.type(0).shape, 0) * volume(call.type(1).shape, 1); }

}  // namespace

std::vector<Row> convolution_rows() {
  return {
      {"conv1d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, dilation: ints = 1, groups: int = 1)", "torch F", conv_type<1>, conv<1>, conv_work},
      {"conv2d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, dilation: ints = 1, groups: int = 1)", "torch F", conv_type<2>, conv<2>, conv_work},
      {"conv3d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, dilation: ints = 1, groups: int = 1)", "torch F", conv_type<3>, conv<3>, conv_work},
      {"conv_transpose1d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, output_padding: ints = 0, groups: int = 1, dilation: ints = 1)",
       "torch F", conv_transpose_type<1>, conv_transpose<1>, conv_transpose_work},
      {"conv_transpose2d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, output_padding: ints = 0, groups: int = 1, dilation: ints = 1)",
       "torch F", conv_transpose_type<2>, conv_transpose<2>, conv_transpose_work},
      {"conv_transpose3d(input, weight, bias = None, stride: ints = 1, padding: ints = 0, output_padding: ints = 0, groups: int = 1, dilation: ints = 1)",
       "torch F", conv_transpose_type<3>, conv_transpose<3>, conv_transpose_work},
  };
}

}  // namespace cudal1::tensor
