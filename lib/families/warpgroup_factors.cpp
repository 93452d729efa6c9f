// SPDX-License-Identifier: Apache-2.0
#include "families/warpgroup_factors.hpp"

#include "algebra/dag.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::families {

namespace {

constexpr std::int64_t aligned_elements = 8;  // a tensor map's rows begin at multiples of 16 bytes

// The kernel that writes the halves of lines along the depth, a block for each.
void split_along(const WarpgroupFactor& factor, const std::string& from, const std::string& name, KernelFile& file) {
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(from, tensor::Dtype::float32, false), high = arguments.pointer(factor.buffers[0], tensor::Dtype::float16, true);
  const std::string low = factor.buffers.size() > 1 ? arguments.pointer(factor.buffers[1], tensor::Dtype::float16, true) : "";
  const std::string back = arguments.pointer(factor.back, tensor::Dtype::float32, true);
  const std::string depth = arguments.number(factor.depth), pitch = arguments.number(factor.pitch);
  file.kernel("split_along.cuh", {{"name", name}, {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()}, {"X", x}, {"H", high},
      {"low", low.empty() ? "" : fmt::format("    *reinterpret_cast<uint2*>({} + first + k) = low_halves(x, high);\n", low)}, {"back", back},
      {"depth", depth}, {"pitch", pitch}, {"whole", depth + " % 4 == 0"}});
  const std::string lines = factor.batched ? fmt::format("{} * {}", in_parentheses(factor.batches.text), in_parentheses(factor.lines.text)) : factor.lines.text;
  file.launch(fmt::format("{}<<<{}, 256>>>({})", name, lines, arguments.passed()));
}

// The same of lines across the depth: their parts are measured first.
void split_across(const WarpgroupFactor& factor, const std::string& from, const std::string& name, KernelFile& file) {
  const tensor::Extent chunks = ceil_div(factor.depth, 128);
  const std::string measured = file.new_scratch("S", "float32", {factor.batches, chunks, factor.lines, literal(2, factor.lines.values.size())});
  Arguments measuring(file.scalars()), arguments(file.scalars());
  const std::string measured_x = measuring.pointer(from, tensor::Dtype::float32, false), measured_to = measuring.pointer(measured, tensor::Dtype::float32, true);
  const std::string measured_lines = measuring.number(factor.lines), measured_depth = measuring.number(factor.depth);
  const std::string x = arguments.pointer(from, tensor::Dtype::float32, false), parts = arguments.pointer(measured, tensor::Dtype::float32, false);
  const std::string high = arguments.pointer(factor.buffers[0], tensor::Dtype::float16, true);
  const std::string low = factor.buffers.size() > 1 ? arguments.pointer(factor.buffers[1], tensor::Dtype::float16, true) : "";
  const std::string back = arguments.pointer(factor.back, tensor::Dtype::float32, true);
  const std::string lines = arguments.number(factor.lines), depth = arguments.number(factor.depth), pitch = arguments.number(factor.pitch);
  file.kernel("split_across.cuh", {{"name", name}, {"measure_parameters", measuring.parameters()}, {"measure_forwarded", measuring.forwarded()},
      {"measure_X", measured_x}, {"measure_parts", measured_to}, {"measure_lines", measured_lines}, {"measure_depth", measured_depth},
      {"measure_whole", measured_lines + " % 4 == 0"}, {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()}, {"X", x}, {"parts", parts},
      {"H", high}, {"low", low.empty() ? "" : fmt::format("    *reinterpret_cast<uint2*>({} + to) = low_halves(x, high);\n", low)}, {"back", back},
      {"lines", lines}, {"depth", depth}, {"pitch", pitch}, {"whole", lines + " % 4 == 0"}});
  const std::string grid = fmt::format("dim3(ceil_div({}, 128), {}, {})", factor.lines.text, chunks.text, factor.batched ? factor.batches.text : "1");
  file.launch(fmt::format("{}_measure<<<{}, 256>>>({})", name, grid, measuring.passed()));
  file.launch(fmt::format("{}<<<{}, 256>>>({})", name, grid, arguments.passed()));
}

}  // namespace

bool is_exact(const Node& producer, const KernelFile& file) {
  return producer.is<Convolution>() ? file.variant().exact_convolutions() : file.variant().exact_products();
}

std::string WarpgroupFactor::map(std::size_t half, const std::string& box) const {
  const tensor::Extent &inner = along ? depth : lines, &outer = along ? lines : depth;
  std::vector<std::string> axes{inner.text, outer.text}, strides{pitch.text}, sides{"64", along ? box : "64"};
  if (batched) {
    axes.push_back(batches.text);
    strides.push_back(fmt::format("{} * {}", in_parentheses(pitch.text), in_parentheses(outer.text)));
    sides.emplace_back("1");
  }
  return fmt::format("tensor_map({}, axes({}), strides({}), box({}), swizzle(128))", buffers[half], fmt::join(axes, ", "), fmt::join(strides, ", "), fmt::join(sides, ", "));
}

std::string WarpgroupFactor::loads(const std::vector<std::string>& maps, const std::string& to, const std::string& line_start, const std::string& box,
                                   const std::string& slot_bytes) const {
  std::string result;
  const std::string load = batched ? "load_3d" : "load_2d", layer = batched ? ", batch" : "";
  for (std::size_t half = 0; half < maps.size(); ++half) {
    const std::string at = half == 0 ? to : fmt::format("{} + {}", to, slot_bytes);
    if (along)
      result += fmt::format("          {}({}, {}, bar, k, {}{});\n", load, at, maps[half], line_start, layer);
    else
      result += fmt::format("          for (int i = 0; i < {}; i += 64) {}({} + 128 * i, {}, bar, {} + i, k{});\n", box, load, at, maps[half], line_start, layer);
  }
  return result;
}

std::string WarpgroupFactor::descriptor(const std::string& tile) const {
  return along ? fmt::format("descriptor({} + 32 * part)", tile) : fmt::format("transposed_descriptor({} + 2048 * part, 8192)", tile);
}

bool suits_warpgroups(const GemmOperands& factors, const schedule::Machine& machine) {
  constexpr std::int64_t smallest = 64;  // lines and depths below which most of a tile is empty
  if (!machine.warpgroup_products || factors.n.values[0] < smallest || factors.m.values[0] < smallest || factors.depth.values[0] < smallest) return false;
  if (!factors.half()) return true;
  const auto whole = [&](const tensor::Extent& extent) {
    return std::all_of(extent.values.begin(), extent.values.end(), [](std::int64_t value) { return value % aligned_elements == 0; });
  };
  return whole(factors.left.swapped ? factors.n : factors.depth) && whole(factors.right.swapped ? factors.depth : factors.m);
}

WarpgroupFactor warpgroup_factor(const GemmOperands& factors, bool left, int halves, KernelFile& file) {
  const GemmOperand& operand = left ? factors.left : factors.right;
  WarpgroupFactor result;
  result.along = left != operand.swapped;
  result.batched = !is_zero(operand.stride);
  result.lines = left ? factors.n : factors.m;
  result.depth = factors.depth;
  result.batches = result.batched ? factors.batches : literal(1, factors.n.values.size());
  result.pitch = result.along ? result.depth : result.lines;
  if (factors.half()) {
    result.dtype = operand.dtype;
    result.buffers = {operand.buffer};
    return result;
  }
  result.pitch = round_up(result.pitch, aligned_elements);
  const tensor::Extent& rows = result.along ? result.lines : result.depth;
  result.buffers = file.new_scratches(halves, {"H", "L"}, "float16", {result.batches, rows, result.pitch});
  result.back = file.new_scratch("R", "float32", {result.batches, result.lines});
  const std::string name = file.unique(left ? "split_left" : "split_right");
  if (result.along) split_along(result, operand.buffer, name, file);
  else split_across(result, operand.buffer, name, file);
  const double elements = static_cast<double>(result.batches.values[0]) * static_cast<double>(result.lines.values[0]) * static_cast<double>(result.depth.values[0]);
  file.preparation((4.0 + 2 * halves) * elements);
  if (!result.along) file.preparation(4.0 * elements);
  return result;
}

}  // namespace cudal1::families
