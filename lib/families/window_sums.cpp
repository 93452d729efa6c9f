// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/device_code.hpp"
#include "families/arguments.hpp"
#include "families/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

using cuda_code::device_code;

namespace {

std::string meets(const std::string& name, const Window& window, bool transposed) {
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
  const Node& node = dag.at(id);
  const Node& input = dag.at(node.operands[0]);
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"window sums are covered for float32 only"};
  const std::size_t assignments = input.shape[0].values.size(), spatial = node.windows().size();
  tensor::Shape space(3 - spatial, literal(1, assignments)), taps(3 - spatial, literal(1, assignments)),
      outputs(3 - spatial, literal(1, assignments));
  std::vector<Window> windows(3 - spatial, Window{1, 0, 1, literal(1, assignments), literal(1, assignments)});
  for (std::size_t i = 0; i < spatial; ++i) {
    space.push_back(input.shape[i + 2]);
    taps.push_back(node.shape[i + 2]);
    outputs.push_back(node.windows()[i].outputs);
    windows.push_back(node.windows()[i]);
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
  const bool transposed = node.transposed();
  std::string predicates;
  const char* axis = "dhw";
  for (std::size_t i = 0; i < 3; ++i)
    predicates += meets(fmt::format("{}_meets_{}", name, axis[i]), windows[i], transposed || i + spatial < 3);
  file.helper(device_code("pack.cuh"));
  file.code(device_code("window_sums.cuh", {{"meets", predicates}, {"name", name},
                        {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()},
                        {"kd", taps[0].values[0]}, {"kh", taps[1].values[0]},
                        {"kw", taps[2].values[0]}, {"X", x}, {"S", s}, {"D", D},
                        {"H", H}, {"W", W}, {"OD", OD}, {"OH", OH},
                        {"OW", OW}}));
  file.launch(fmt::format("{}<<<{}, 256>>>({})", name, times(input.shape[0], input.shape[1]).text, arguments.passed()));
  file.traffic(4 * volume(input.shape), 0);
  file.technique(
      Technique::algebra,
      fmt::format(
          "`{}` sums, for every tap of the window, the inputs that it meets; the convolution itself is never computed.",
          name));
}

}  // namespace cudal1::families
