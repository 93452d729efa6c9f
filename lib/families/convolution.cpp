// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/device_code.hpp"
#include "families/arranged_weights.hpp"
#include "families/convolution_kernel.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/halo_tile.hpp"
#include "families/tensor_tiles.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

using cuda_code::device_code;

namespace {

constexpr const char* axis_names[] = {"d", "h", "w"};
constexpr const char* upper_names[] = {"D", "H", "W"};

}  // namespace

// A window of one element makes the weights a matrix, and the inputs of every sample another. Samples too small for
// tiles of their own are better gathered.
bool is_product(const Node& node) {
  if (!node.is<Convolution>() || node.transposed() || node.as<Convolution>().groups != 1) return false;
  std::int64_t sample = 1;
  for (const Window& window : node.windows()) {
    if (!is_one(window.taps) || window.stride != 1 || window.padding != 0) return false;
    sample *= window.outputs.values[0];
  }
  return node.shape[1].values[0] >= 8 && (sample >= 512 || sample % 64 == 0);
}

// Few results per weight are no product: those go through write_windows.
bool is_tiled_convolution(const Node& node) {
  if (!node.is<Convolution>()) return false;
  if (node.shape[1].values[0] / node.as<Convolution>().groups < 8) return false;
  if (node.transposed())
    for (const Window& window : node.windows())
      if (window.dilation != 1 && window.stride != 1) return false;
  return true;
}

// Bound by arithmetic in fp32 where channels are many: an implicit product, whose gathered factor never exists in
// memory. Of a transposed convolution each residue of the result's coordinates by the stride meets its own taps only,
// so no product with a zero is computed.
void write_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  write_convolution_kernel(region, dag, buffers, file, file.variant().tensor_cores(), {});
}

void write_convolution_kernel(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file, bool on_tensor_cores, const Positives& unless) {
  const Node& node = dag.at(region.producer);
  const Node &input = dag.at(node.operands[0]),
             &weights = dag.at(node.operands[1]);
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"convolutions are covered for float32 only"};
  for (std::size_t i = 0; i < input.shape[0].values.size(); ++i) {
    std::int64_t sample = 1, results = 1;
    for (std::size_t k = 1; k < input.shape.size(); ++k) sample *= input.shape[k].values[i];
    for (std::size_t k = 0; k < node.shape.size(); ++k) results *= k == 1 ? 1 : node.shape[k].values[i];
    if (sample >= 1 << 28 || results >= 1 << 30)
      throw NotCovered{"a convolution with more than 2^28 inputs per sample"};
  }
  const bool transposed = node.transposed();
  const std::int64_t groups = node.as<Convolution>().groups;
  const Windows windows = windows_of(node, input);
  const auto per_group = [&](tensor::Extent extent) {
    if (groups == 1) return extent;
    extent.text = in_parentheses(extent.text) + fmt::format(" / {}", groups);
    for (std::int64_t& value : extent.values) value /= groups;
    return extent;
  };
  const tensor::Extent results = per_group(node.shape[1]), channels = per_group(input.shape[1]);
  const std::int64_t o = results.values[0];
  const bool tensor_cores = on_tensor_cores && o > 16;
  const std::string name = file.unique(fmt::format("{}{}convolution", tensor_cores ? "tensor_" : "", transposed ? "transposed_" : ""));
  const bool wide = file.variant().wide;
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

  std::vector<cuda_code::Hole> holes;
  const auto set = [&](const std::string& key, const std::string& value) { holes.emplace_back(key, value); };
  std::optional<HaloTile> rows;
  if (tensor_cores && file.variant().windows != Variant::Windows::gathered) rows = halo_tile(node, input, windows, tile_p, 3, file.machine());
  const std::string stages = rows ? "3" : tile_stages(tile_o, tile_p, file.machine());
  if (rows) {
    // Three blocks to an SM have fewer registers each; a tile of 128 by 128 needs those of two.
    const std::string blocks = file.tune("BLOCKS", {2, 3}, fmt::format("{} * {} * BLOCKS <= 32768", tile_o, tile_p));
    set("blocks", blocks);
  }

  std::optional<ArrangedWeights> arranged;
  if (rows && transposed) arranged = arrange_weights(windows, groups, channels, results, buffers.at(node.operands[1]), file);

  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false),
                    k = arguments.pointer(arranged ? arranged->buffer : buffers.at(node.operands[1]), weights.dtype, false);
  declare_epilogue(region, dag, arguments);
  std::string part, there;
  bool edges = transposed;  // where a tap may miss the input
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
    const std::string own = i == 0 ? "line / QH % QD" : i == 1 ? "line % QH" : "w";
    set("own_" + low, split ? fmt::format("{} * {} + r_{}", own, stride, low) : own);
    if (i == 2 && rows) set("strips", fmt::format("({} + {}) / {}", split ? fmt::format("({} + {}) / {}", wanted, stride - 1, stride) : wanted, rows->strip - 1, rows->strip));
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
  if (rows) {
    for (const auto& [axis, low] : {std::pair{&rows->h, "h"}, {&rows->w, "w"}}) {
      set(fmt::format("span_{}", low), axis->span);
      set(fmt::format("low_{}", low), axis->low);
      set(fmt::format("row_{}", low), axis->row);
      set(fmt::format("shift_{}", low), axis->shift);
    }
    set("strip", std::to_string(rows->strip));
    set("line", std::to_string(rows->line));
    set("lanes", std::to_string(rows->lanes));
    set("packed", rows->packs ? arguments.number(windows.axes[2].input) + " % 4 == 0" : "false");
    const std::string D = arguments.number(windows.axes[0].input), H = arguments.number(windows.axes[1].input), W = arguments.number(windows.axes[2].input);
    set("inside", windows.axes[0].dim < 0
                      ? "          const bool inside = at.from >= 0;\n          const float* x = inside ? from + at.from : from;\n"
                      : fmt::format("          const int d = at.d + plane % TD * {};\n"
                                    "          const bool inside = at.from >= 0 && unsigned(d) < unsigned({});\n"
                                    "          const float* x = inside ? from + at.from + d * {} * {} : from;\n",
                                    transposed ? fmt::format("-{}", windows.axes[0].window.stride > 1 ? 1 : windows.axes[0].window.dilation)
                                               : std::to_string(windows.axes[0].window.dilation),
                                    D, H, W));
    const std::string row = arranged ? arguments.number(arranged->row) : "depth";
    set("weights", arranged ? fmt::format("{} + size_t(blockIdx.z) * {} * {}", k, O, row) : fmt::format("{} + size_t(group) * {} * {}", k, O, row));
    set("weight_row", row);
  }
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
  std::string guard;
  for (const auto& [buffer, count] : unless)
    guard += fmt::format("  for (int i = threadIdx.x; i < {}; i += 256) held = held && {}[i] > 0;\n", arguments.number(count), arguments.pointer(buffer, tensor::Dtype::float32, false));
  if (!unless.empty()) guard = "  // NaN undoes no scale: of such inputs or weights there are no halves.\n  bool held = true;\n" + guard + "  if (!__syncthreads_or(!held)) return;\n";
  set("guard", guard);
  set("epilogue", after.statements);
  set("store", after.store);
  set("parameters", arguments.parameters());
  const std::string_view kernel = rows ? "staged_convolution.cuh" : tensor_cores ? "gathered_convolution.cuh" : "convolution.cuh";
  file.code(device_code(kernel, cuda_code::holes_in(kernel, holes)));
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
  const std::string block = rows           ? fmt::format("128, ({} * {} * 36 + {} * 5 + 64 + {}) * 4", stages, tile_o, tile_p, rows->floats)
                            : tensor_cores ? fmt::format("128, {} * ({} * 36 + 32 * ({} + 8)) * 4", stages, tile_o, tile_p)
                                           : "256";
  const std::string tiles = rows ? fmt::format("{} * ceil_div({}, {})", rows->strips, rows->positions, tile_p) : fmt::format("ceil_div({}, {})", positions.text, tile_p);
  file.launch(fmt::format("{}<<<dim3({}, ceil_div({}, {}){}), {}>>>({})", name, tiles, results.text, tile_o, layers.empty() ? "" : ", " + layers, block,
                          arguments.passed()));
  double operations = 2 * depth * volume(node.shape);
  if (transposed)
    for (const Window& window : node.windows()) operations /= static_cast<double>(window.stride);
  const bool exact = file.variant().exact();
  const double effort = !tensor_cores ? 1 : rows ? costs::staged_convolution(exact) : costs::gathered_convolution(exact, o >= 128);
  if (!unless.empty()) return file.traffic(0, 0);
  file.traffic(4 * (volume(input.shape) + volume(node.shape)), effort * operations);
  file.technique(Technique::implicit_product,
                 rows ? fmt::format("`{}` multiplies tiles of weights by inputs in shared memory, where each stands once for all taps; the "
                                    "matrix of all taps never exists.",
                                    name)
                      : fmt::format("`{}` multiplies tiles of weights by tiles of gathered inputs in registers; the gathered matrix never exists.", name));
  file.technique(Technique::shared_memory_tiling,
                 fmt::format("Every input that `{}` loads serves {} output channels, every weight {} positions.", name,
                             tile_o, tile_p));
  if (tensor_cores) {
    use_tensor_cores(file, name, "weights and inputs");
    file.helper(device_code("tensor_tiles.cuh"));
    file.technique(Technique::asynchronous_copy,
                   "The next inputs are on their way to shared memory while the present ones are multiplied.");
  }
  if (transposed && !classes.empty())
    file.technique(
        Technique::work_skipping,
        "Results with equal residues by the stride go together, so that only taps which meet an input are multiplied.");
}

}  // namespace cudal1::families
