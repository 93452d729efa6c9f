// SPDX-License-Identifier: Apache-2.0
#include "playbook/epilogue.hpp"
#include "playbook/families.hpp"
#include "playbook/tensor_tiles.hpp"
#include "playbook/windows.hpp"

#include <algorithm>

#include <fmt/args.h>
#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

constexpr std::string_view code = R"(__global__ void __launch_bounds__(256) {name}({parameters}) {{
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int TO = {tile_o} / 16, TP = {tile_p} / 16, NOWHERE = -(1 << 28);
  struct Tap {{ int from, weight, d, h, w; }};
  __shared__ __align__(16) float inputs[{step}][{tile_p} + 4], weights[{step}][{tile_o} + 4];
  __shared__ Tap taps[{step}];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
{part}  const int depth = {channels} * TD * TH * TW, positions = {batch} * QD * QH * QW;
  if (int(blockIdx.x) * {tile_p} >= positions) return;
  const int o_start = blockIdx.y * {tile_o};
  const auto tap = [&](int k) {{
    if (k >= depth) return Tap{{0, -1, 0, 0, NOWHERE}};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{{((channel * {D} + d * {step_d}) * {H} + h * {step_h}) * {W} + w * {step_w},
               channel * {weight_channel} + ((first_d + d * {jump_d}) * {KH} + first_h + h * {jump_h}) * {KW} + first_w + w * {jump_w},
               d * {step_d}, h * {step_h}, w * {step_w}}};
  }};
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % {tile_p}, position = min(int(blockIdx.x) * {tile_p} + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * {times_d} + add_d, h0 = position / QW % QH * {times_h} + add_h;
  const int w0 = position % QW * {times_w} + add_w;
  const float* x = {X} + (size_t(position / (QD * QH * QW)) * {all_channels} + group * {channels}) * {plane};
  const int base = (d0 * {H} + h0) * {W} + w0;
  const float* kernel = {K} + size_t(group) * {weight_group};
  float input_held[{tile_p} * {step} / 256], weight_held[({tile_o} * {step} + 255) / 256];
  const auto fetch = [&]() {{
#pragma unroll
    for (int i = 0; i < {tile_p} * {step} / 256; ++i) {{
      const Tap at = taps[i * (256 / {tile_p}) + threadIdx.x / {tile_p}];
{window}      const bool there = {there};
      input_held[i] = there ? x[base + at.from] : 0.0f;
    }}
#pragma unroll
    for (int i = 0; i < ({tile_o} * {step} + 255) / 256; ++i) {{
      const int o = o_start + (i * 256 + int(threadIdx.x)) / {step}, from = taps[threadIdx.x % {step}].weight;
      weight_held[i] = o < {O} && from >= 0 ? kernel[o * {weight_result} + from] : 0.0f;
    }}
  }};
  float sum[TO][TP] = {{}};
  if (threadIdx.x < {step}) taps[threadIdx.x] = tap(threadIdx.x);
  __syncthreads();
  fetch();
  __syncthreads();
  for (int start = 0; start < depth; start += {step}) {{
#pragma unroll
    for (int i = 0; i < {tile_p} * {step} / 256; ++i) inputs[i * (256 / {tile_p}) + threadIdx.x / {tile_p}][own] = input_held[i];
#pragma unroll
    for (int i = 0; i < ({tile_o} * {step} + 255) / 256; ++i)
      if (i * 256 + threadIdx.x < {tile_o} * {step}) weights[threadIdx.x % {step}][(i * 256 + threadIdx.x) / {step}] = weight_held[i];
    if (threadIdx.x < {step}) taps[threadIdx.x] = tap(start + {step} + threadIdx.x);
    __syncthreads();
    if (start + {step} < depth) fetch();
#pragma unroll
    for (int k = 0; k < {step}; ++k) {{
      float a[TO], b[TP];
#pragma unroll
      for (int i = 0; i < TO; ++i) a[i] = weights[k][ty * TO + i];
#pragma unroll
      for (int j = 0; j < TP; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&inputs[k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TO; ++i)
#pragma unroll
        for (int j = 0; j < TP; ++j) sum[i][j] += a[i] * b[j];
    }}
    __syncthreads();
  }}
#pragma unroll
  for (int j = 0; j < TP; ++j) {{
    const int at = blockIdx.x * {tile_p} + j / 4 * 64 + tx * 4 + j % 4;
    if (at >= positions) break;
    const int at_b = at / (QD * QH * QW), at_d = {result_d}, at_h = {result_h}, at_w = {result_w};
#pragma unroll
    for (int i = 0; i < TO; ++i) {{
      if (o_start + ty * TO + i >= {O}) break;
      const int at_o = group * {O} + o_start + ty * TO + i;
      const float produced = sum[i][j];
{epilogue}      {store}
    }}
  }}
}}
)";

constexpr std::string_view tensor_code = R"(__global__ void __launch_bounds__(128, 2) {name}({parameters}) {{
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int STEP = 32, STAGES = {stages}, NOWHERE = -(1 << 28);
  constexpr int LEFT = tile_floats<true, {tile_o}, STEP>, BOTH = LEFT + tile_floats<false, {tile_p}, STEP>;
  struct Tap {{ int from, weight, d, h, w; }};
  extern __shared__ __align__(16) float tiles[];
  __shared__ Tap taps[2][STEP];
{part}  const int depth = {channels} * TD * TH * TW, positions = {batch} * QD * QH * QW;
  if (int(blockIdx.x) * {tile_p} >= positions) return;
  const int o_start = blockIdx.y * {tile_o};
  const auto tap = [&](int k) {{
    if (k >= depth) return Tap{{0, -1, 0, 0, NOWHERE}};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{{((channel * {D} + d * {step_d}) * {H} + h * {step_h}) * {W} + w * {step_w},
               channel * {weight_channel} + ((first_d + d * {jump_d}) * {KH} + first_h + h * {jump_h}) * {KW} + first_w + w * {jump_w},
               d * {step_d}, h * {step_h}, w * {step_w}}};
  }};
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % {tile_p}, position = min(int(blockIdx.x) * {tile_p} + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * {times_d} + add_d, h0 = position / QW % QH * {times_h} + add_h;
  const int w0 = position % QW * {times_w} + add_w;
  const float* x = {X} + (size_t(position / (QD * QH * QW)) * {all_channels} + group * {channels}) * {plane};
  const int base = (d0 * {H} + h0) * {W} + w0;
  const float* kernel = {K} + size_t(group) * {weight_group};
  // The taps of a step are in their table one step before its copies start.
  const auto tabulate = [&](int step) {{
    if (threadIdx.x < STEP) taps[step % 2][threadIdx.x] = tap(step * STEP + threadIdx.x);
  }};
  const auto copy = [&](int step) {{
    if (step * STEP < depth) {{
      float *left = tiles + step % STAGES * BOTH, *right = left + LEFT;
      const Tap* table = taps[step % 2];
{copy_weights}#pragma unroll 8
      for (int k = threadIdx.x / {tile_p}; k < STEP; k += 128 / {tile_p}) {{
        const Tap at = table[k];
{window}        const bool there = {there};
        copy_async<4>(right + k * ({tile_p} + 8) + own, there ? x + (base + at.from) : {X}, there);
      }}
    }}
    asm volatile("cp.async.commit_group;");
  }};
  for (int step = 0; step < STAGES - 1; ++step) {{
    tabulate(step);
    __syncthreads();
    copy(step);
  }}
  tabulate(STAGES - 1);
  float sum[{tile_o} / 32][{tile_p} / 16][4] = {{}};
  for (int step = 0; step * STEP < depth; ++step) {{
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy(step + STAGES - 1);
    tabulate(step + STAGES);
    const float* left = tiles + step % STAGES * BOTH;
    multiply_tiles<true, false, {tile_o}, {tile_p}, STEP>(sum, left, left + LEFT);
  }}
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < {tile_p} / 8; ++j) {{
    const int at = blockIdx.x * {tile_p} + warp % 2 * ({tile_p} / 2) + j / 2 * 8 + lane % 4 * 2 + j % 2;
    if (at >= positions) continue;
    const int at_b = at / (QD * QH * QW), at_d = {result_d}, at_h = {result_h}, at_w = {result_w};
#pragma unroll
    for (int i = 0; i < {tile_o} / 16; ++i) {{
      const int o = o_start + warp / 2 * ({tile_o} / 2) + i * 8 + lane / 4;
      if (o >= {O}) continue;
      const int at_o = group * {O} + o;
      const float produced = sum[i / 2][j / 2][i % 2 * 2 + j % 2];
{epilogue}      {store}
    }}
  }}
}}
)";

constexpr const char* axis_names[] = {"d", "h", "w"};
constexpr const char* upper_names[] = {"D", "H", "W"};

}  // namespace

// A window of one element makes the weights a matrix, and the inputs of every sample another. Samples too small for
// tiles of their own are better gathered.
bool is_product(const Node& node) {
  if (node.kind != Kind::convolution || node.function != "conv" || std::get<std::int64_t>(node.attributes.at("groups")) != 1) return false;
  std::int64_t sample = 1;
  for (const Node::Window& window : node.windows) {
    if (!is_one(window.taps) || window.stride != 1 || window.padding != 0) return false;
    sample *= window.outputs.values[0];
  }
  return node.shape[1].values[0] >= 8 && (sample >= 512 || sample % 64 == 0);
}

// Few results per weight are no product: those go through write_windows.
bool is_tiled_convolution(const Node& node) {
  if (node.kind != Kind::convolution) return false;
  const std::int64_t groups = std::get<std::int64_t>(node.attributes.at("groups"));
  if (node.shape[1].values[0] / groups < 8) return false;
  if (node.function == "conv_transpose")
    for (const Node::Window& window : node.windows)
      if (window.dilation != 1 && window.stride != 1) return false;
  return true;
}

// Bound by arithmetic in fp32 where channels are many: an implicit product, whose gathered factor never exists in
// memory. Of a transposed convolution each residue of the result's coordinates by the stride meets its own taps only,
// so no product with a zero is computed.
void write_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(region.producer)];
  const Node &input = dag.nodes[static_cast<std::size_t>(node.operands[0])],
             &weights = dag.nodes[static_cast<std::size_t>(node.operands[1])];
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"convolutions are covered for float32 only"};
  for (std::size_t i = 0; i < input.shape[0].values.size(); ++i) {
    std::int64_t sample = 1, results = 1;
    for (std::size_t k = 1; k < input.shape.size(); ++k) sample *= input.shape[k].values[i];
    for (std::size_t k = 0; k < node.shape.size(); ++k) results *= k == 1 ? 1 : node.shape[k].values[i];
    if (sample >= 1 << 28 || results >= 1 << 30)
      throw NotCovered{"a convolution with more than 2^28 inputs per sample"};
  }
  const bool transposed = node.function == "conv_transpose";
  const std::int64_t groups = std::get<std::int64_t>(node.attributes.at("groups"));
  const Windows windows = windows_of(node, input);
  const auto per_group = [&](tensor::Extent extent) {
    if (groups == 1) return extent;
    extent.text = in_parentheses(extent.text) + fmt::format(" / {}", groups);
    for (std::int64_t& value : extent.values) value /= groups;
    return extent;
  };
  const tensor::Extent results = per_group(node.shape[1]), channels = per_group(input.shape[1]);
  const std::int64_t o = results.values[0];
  const bool tensor_cores = file.style().tensor && o > 16;
  const std::string name = file.unique(fmt::format("{}{}convolution", tensor_cores ? "tensor_" : "", transposed ? "transposed_" : ""));
  const bool wide = file.style().wide;
  const std::string tile_o = file.tune("TILE_O", o <= 16   ? std::vector<std::int64_t>{16}
                                                 : o <= 32 ? std::vector<std::int64_t>{32}
                                                 : o <= 64 ? std::vector<std::int64_t>{64, 32}
                                                 : wide || tensor_cores ? std::vector<std::int64_t>{128, 64}
                                                           : std::vector<std::int64_t>{64, 128});
  const std::string tile_p =
      file.tune("TILE_P", wide && !tensor_cores ? std::vector<std::int64_t>{256, 128} : std::vector<std::int64_t>{128, 64});
  double depth = static_cast<double>(channels.values[0]);
  for (const Windows::Axis& axis : windows.axes) depth *= static_cast<double>(axis.window.taps.values[0]);
  const std::string step =
      tensor_cores ? "32" : file.tune("STEP", depth >= 96 ? std::vector<std::int64_t>{16, 8} : std::vector<std::int64_t>{8, 16});

  const std::string stages = fmt::format("({} + {} > 192 ? 3 : 4)", tile_o, tile_p);

  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false),
                    k = arguments.pointer(buffers.at(node.operands[1]), weights.dtype, false);
  declare_epilogue(region, dag, arguments);
  std::string part, there;
  bool edges = transposed;  // where a tap may miss the input
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  const auto set = [&](const std::string& key, const std::string& value) {
    store.push_back(fmt::arg(key.c_str(), value));
  };
  part += groups == 1 ? "  constexpr int group = 0;\n" : fmt::format("  const int group = blockIdx.z % {};\n", groups);
  std::string rest = groups == 1 ? "blockIdx.z" : fmt::format("blockIdx.z / {}", groups);
  std::string classes;
  for (std::size_t i = 3; i-- > 0;) {
    const Windows::Axis& axis = windows.axes[i];
    const std::string low = axis_names[i], up = upper_names[i];
    const auto& [stride, padding, dilation, outputs, taps] = axis.window;
    const std::string extent = arguments.number(axis.input), count = arguments.number(taps),
                      wanted = arguments.number(outputs);
    const bool split = transposed && stride > 1;
    if (split) {
      // Results r, r + stride, r + 2 stride, …; taps first, first + stride, …
      part += fmt::format("  const int r_{0} = {1} % {2}, Q{3} = ({4} - r_{0} + {5}) / {2};\n", low, rest, stride, up,
                          wanted, stride - 1);
      part += fmt::format(
          "  const int first_{0} = (r_{0} + {1}) % {2}, T{3} = ({4} - first_{0} + {5}) / {2}, add_{0} = (r_{0} + {1}) "
          "/ {2};\n",
          low, padding, stride, up, count, stride - 1);
      rest += fmt::format(" / {}", stride);
      classes += fmt::format("{}{}", classes.empty() ? "" : " * ", stride);
    } else {
      part += fmt::format("  {} int Q{} = {};\n", is_literal(wanted) ? "constexpr" : "const", up, wanted);
      part += fmt::format("  {} int T{} = {};\n", is_literal(count) ? "constexpr" : "const", up, count);
      part += fmt::format("  constexpr int first_{0} = 0, add_{0} = {1};\n", low, transposed ? padding : -padding);
    }
    set("times_" + low, std::to_string(transposed ? 1 : stride));
    set("step_" + low, transposed ? fmt::format("-{}", split ? 1 : dilation) : std::to_string(dilation));
    set("jump_" + low, std::to_string(split ? stride : 1));
    const std::string coordinate = i == 0 ? "at / (QH * QW) % QD" : i == 1 ? "at / QW % QH" : "at % QW";
    set("result_" + low, split ? fmt::format("{} * {} + r_{}", coordinate, stride, low) : coordinate);
    set("K" + up, count);
    set(up, extent);
    edges = edges || padding != 0;
    if (axis.dim >= 0 || i == 2)
      there = fmt::format("unsigned({}) < unsigned({})", low, extent) + (there.empty() ? "" : " && ") + there;
  }
  std::vector<std::string> at = {"at_b", "at_o"};
  for (std::size_t i = 0; i < 3; ++i)
    if (windows.axes[i].dim >= 0) at.push_back(fmt::format("at_{}", axis_names[i]));
  const std::string own = arguments.number(channels), O = arguments.number(results),
                    batch = arguments.number(input.shape[0]);
  const std::string taps = arguments.number(windows.taps());
  const Epilogue after = epilogue(region, dag, at, 6, arguments);
  set("name", name);
  set("tile_o", tile_o);
  set("tile_p", tile_p);
  set("step", step);
  set("stages", stages);
  set("part", part);
  set("channels", own);
  set("all_channels", arguments.number(input.shape[1]));
  set("batch", batch);
  set("plane", arguments.number(product_of(input.shape, 2, input.shape.size(), region.assignments)));
  set("weight_channel", transposed ? fmt::format("{} * {}", O, taps) : taps);
  set("weight_result", transposed ? taps : fmt::format("{} * {}", own, taps));
  set("weight_group",
      transposed ? fmt::format("{} * {} * {}", own, O, taps) : fmt::format("{} * {} * {}", O, own, taps));
  set("X", x);
  set("K", k);
  set("O", O);
  set("there", edges ? there : "at.weight >= 0");
  const std::string indent(tensor_cores ? 8 : 6, ' ');
  set("window", edges ? indent + "const int d = d0 + at.d, h = h0 + at.h, w = w0 + at.w;\n" : "");
  // Weights lie along the depth, unless the convolution is transposed.
  set("copy_weights",
      transposed ? fmt::format(R"(#pragma unroll 8
      for (int line = threadIdx.x / STEP; line < {0}; line += 128 / STEP) {{
        const int o = o_start + line, from = table[threadIdx.x % STEP].weight;
        const bool inside = o < {1} && from >= 0;
        copy_async<4>(left + line * (STEP + 4) + threadIdx.x % STEP, inside ? kernel + o * {2} + from : kernel, inside);
      }}
)",
                               tile_o, O, taps)
                 : fmt::format("      if (depth % 4 == 0) copy_tile<true, true, {0}, STEP>(left, kernel, o_start, {1}, step * STEP, depth);\n"
                               "      else copy_tile<false, true, {0}, STEP>(left, kernel, o_start, {1}, step * STEP, depth);\n",
                               tile_o, O));
  set("epilogue", after.statements);
  set("store", after.store);
  set("parameters", arguments.parameters());
  file.code(fmt::vformat(tensor_cores ? tensor_code : code, store));
  // The first residue has the most results.
  tensor::Extent positions = input.shape[0];
  for (const Windows::Axis& axis : windows.axes) {
    tensor::Extent most = axis.window.outputs;
    if (transposed && axis.window.stride > 1)
      most.text = fmt::format("ceil_div({}, {})", most.text, axis.window.stride);
    positions = times(positions, most);
  }
  std::string layers = classes;
  if (groups != 1) layers += fmt::format("{}{}", layers.empty() ? "" : " * ", groups);
  const std::string block =
      tensor_cores ? fmt::format("128, {} * ({} * 36 + 32 * ({} + 8)) * 4", stages, tile_o, tile_p) : "256";
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}), ceil_div({}, {}){}), {}>>>({})", name, positions.text, tile_p,
                          results.text, tile_o, layers.empty() ? "" : ", " + layers, block, arguments.passed()));
  double read = 4, written = 4, operations = 2 * depth;
  for (const tensor::Extent& extent : input.shape) read *= static_cast<double>(extent.values[0]);
  for (const tensor::Extent& extent : node.shape)
    written *= static_cast<double>(extent.values[0]), operations *= static_cast<double>(extent.values[0]);
  if (transposed)
    for (const Node::Window& window : node.windows) operations /= static_cast<double>(window.stride);
  // Gathering costs the tensor cores more than the sums unless many channels share what is gathered.
  const double effort = !tensor_cores ? 1 : !file.style().exact ? 0.6 : o >= 128 ? 0.9 : 1.2;
  file.traffic(read + written, effort * operations);
  file.technique(Technique::implicit_product, fmt::format("`{}` multiplies tiles of weights by tiles of gathered inputs in "
                                                 "registers; the gathered matrix never exists.",
                                                 name));
  file.technique(Technique::shared_memory_tiling,
                 fmt::format("Every input that `{}` loads serves {} output channels, every weight {} positions.", name,
                             tile_o, tile_p));
  if (tensor_cores) {
    use_tensor_cores(file, name, "weights and inputs");
    file.helper(tensor_tiles);
    file.technique(Technique::asynchronous_copy,
                   "The next inputs are gathered into shared memory while the present ones are multiplied.");
  }
  if (transposed && !classes.empty())
    file.technique(
        Technique::work_skipping,
        "Results with equal residues by the stride go together, so that only taps which meet an input are multiplied.");
  if (region.instances.size() > 1)
    file.technique(Technique::fusion, fmt::format("What follows happens in the registers of `{}`.", name));
  file.end_family();
}

}  // namespace cudal1::playbook
