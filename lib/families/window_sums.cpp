// SPDX-License-Identifier: Apache-2.0
#include "families/arguments.hpp"
#include "families/device_functions.hpp"
#include "families/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

constexpr std::string_view code = R"({meets}template <bool WHOLE>
__device__ __forceinline__ void {name}_body({parameters}) {{
  constexpr int KD = {kd}, KH = {kh}, KW = {kw}, WARPS = 8, SEGMENT = 512, VEC = 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, plane = {H} * {W};
  const int segments = (plane + SEGMENT - 1) / SEGMENT;
  const float* x = {X} + size_t(blockIdx.x) * {D} * plane;
  float sum[KD][KH][KW] = {{}};
  for (int unit = warp; unit < {D} * segments; unit += WARPS) {{
    const int d = unit / segments, from = unit % segments * SEGMENT;
    float here[KH][KW] = {{}};
#pragma unroll
    for (int step = 0; step < SEGMENT; step += 32 * VEC) {{
      const int at = from + step + lane * VEC;
      const Pack<float, VEC> values = load<WHOLE, VEC>(x + size_t(d) * plane + at, plane - at);
      if (WHOLE) {{
        // A row is a multiple of VEC long, so these share it.
        const int h = at / {W}, w = at - h * {W};
        float row[KW] = {{}};
#pragma unroll
        for (int i = 0; i < VEC; ++i)
#pragma unroll
          for (int c = 0; c < KW; ++c) row[c] += {name}_meets_w(w + i, c, {OW}) ? values.at[i] : 0.0f;
#pragma unroll
        for (int b = 0; b < KH; ++b)
          if ({name}_meets_h(h, b, {OH}))
#pragma unroll
            for (int c = 0; c < KW; ++c) here[b][c] += row[c];
      }} else {{
#pragma unroll
        for (int i = 0; i < VEC; ++i) {{
          const int h = (at + i) / {W}, w = (at + i) - h * {W};
#pragma unroll
          for (int b = 0; b < KH; ++b)
#pragma unroll
            for (int c = 0; c < KW; ++c)
              here[b][c] += {name}_meets_h(h, b, {OH}) && {name}_meets_w(w, c, {OW}) ? values.at[i] : 0.0f;
        }}
      }}
    }}
#pragma unroll
    for (int a = 0; a < KD; ++a)
      if ({name}_meets_d(d, a, {OD}))
#pragma unroll
        for (int b = 0; b < KH; ++b)
#pragma unroll
          for (int c = 0; c < KW; ++c) sum[a][b][c] += here[b][c];
  }}
  __shared__ float partial[WARPS][KD * KH * KW];
#pragma unroll
  for (int a = 0; a < KD; ++a)
#pragma unroll
    for (int b = 0; b < KH; ++b)
#pragma unroll
      for (int c = 0; c < KW; ++c) {{
        float value = sum[a][b][c];
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
        if (lane == 0) partial[warp][(a * KH + b) * KW + c] = value;
      }}
  __syncthreads();
  for (int tap = threadIdx.x; tap < KD * KH * KW; tap += 256) {{
    float value = 0;
    for (int other = 0; other < WARPS; ++other) value += partial[other][tap];
    {S}[size_t(blockIdx.x) * (KD * KH * KW) + tap] = value;
  }}
}}

__global__ void __launch_bounds__(256) {name}({parameters}) {{
  if ({W} % 4 == 0) {name}_body<true>({forwarded});
  else {name}_body<false>({forwarded});
}}
)";

std::string meets(const std::string& name, const Node::Window& window, bool transposed) {
  if (transposed)
    return fmt::format(
        "__device__ __forceinline__ bool {}(int i, int tap, int results) {{\n  const int result = i * {} - {} + tap * "
        "{};\n  return result >= 0 && result < results;\n}}\n",
        name, window.stride, window.padding, window.dilation);
  return fmt::format(
      "__device__ __forceinline__ bool {}(int i, int tap, int results) {{\n  const int result = i + {} - tap * {};\n  "
      "return result >= 0 && result % {} == 0 && result / {} < results;\n}}\n",
      name, window.padding, window.dilation, window.stride, window.stride);
}

}  // namespace

// Bound by memory: one pass over the input. A block sums the windows of one channel; each value meets every tap along
// its row first, then the taps across rows and planes take what the row has gathered.
void write_window_sums(int id, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(id)];
  const Node& input = dag.nodes[static_cast<std::size_t>(node.operands[0])];
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"window sums are covered for float32 only"};
  const std::size_t assignments = input.shape[0].values.size(), spatial = node.windows.size();
  tensor::Shape space(3 - spatial, literal(1, assignments)), taps(3 - spatial, literal(1, assignments)),
      outputs(3 - spatial, literal(1, assignments));
  std::vector<Node::Window> windows(3 - spatial, Node::Window{1, 0, 1, literal(1, assignments), literal(1, assignments)});
  for (std::size_t i = 0; i < spatial; ++i) {
    space.push_back(input.shape[i + 2]);
    taps.push_back(node.shape[i + 2]);
    outputs.push_back(node.windows[i].outputs);
    windows.push_back(node.windows[i]);
  }
  std::int64_t all = 1;
  for (const tensor::Extent& tap : taps) {
    if (std::any_of(tap.values.begin(), tap.values.end(), [&](std::int64_t value) { return value != tap.values[0]; }))
      throw NotCovered{"a convolution whose window changes with the sizes"};
    all *= tap.values[0];
  }
  if (all > 64) throw NotCovered{"a convolution window of more than 64 taps"};
  const std::string name = file.unique("window_sums");
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false),
                    s = arguments.pointer(output, node.dtype, true);
  const std::string D = arguments.number(space[0]), H = arguments.number(space[1]), W = arguments.number(space[2]);
  const std::string OD = arguments.number(outputs[0]), OH = arguments.number(outputs[1]),
                    OW = arguments.number(outputs[2]);
  const bool transposed = node.function == "conv_transpose";
  std::string predicates;
  const char* axis = "dhw";
  for (std::size_t i = 0; i < 3; ++i)
    predicates += meets(fmt::format("{}_meets_{}", name, axis[i]), windows[i], transposed || i + spatial < 3);
  file.helper(device_functions::pack);
  file.code(fmt::format(fmt::runtime(code), fmt::arg("meets", predicates), fmt::arg("name", name),
                        fmt::arg("parameters", arguments.parameters()), fmt::arg("forwarded", arguments.forwarded()),
                        fmt::arg("kd", taps[0].values[0]), fmt::arg("kh", taps[1].values[0]),
                        fmt::arg("kw", taps[2].values[0]), fmt::arg("X", x), fmt::arg("S", s), fmt::arg("D", D),
                        fmt::arg("H", H), fmt::arg("W", W), fmt::arg("OD", OD), fmt::arg("OH", OH),
                        fmt::arg("OW", OW)));
  file.launch(fmt::format("{}<<<{}, 256>>>({})", name, times(input.shape[0], input.shape[1]).text, arguments.passed()));
  double bytes = 4;
  for (const tensor::Extent& extent : input.shape) bytes *= static_cast<double>(extent.values[0]);
  file.traffic(bytes, 0);
  file.technique(
      Technique::algebra,
      fmt::format(
          "`{}` sums, for every tap of the window, the inputs that it meets; the convolution itself is never computed.",
          name));
}

}  // namespace cudal1::families
