// SPDX-License-Identifier: Apache-2.0
#include "families/families.hpp"
#include "families/windows.hpp"

#include <fmt/format.h>

namespace cudal1::families {

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
  const Windows windows = windows_of(node, input);
  const Windows::Axis &d = windows.axes[0], &h = windows.axes[1], &w = windows.axes[2];
  for (const Windows::Axis& axis : windows.axes)
    if (!axis.fixed) throw NotCovered{"a convolution whose window changes with the sizes"};
  if (windows.taps().values[0] > 64) throw NotCovered{"a convolution window of more than 64 taps"};
  const std::string name = file.unique("window_sums");
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false),
                    s = arguments.pointer(output, node.dtype, true);
  const std::string D = arguments.number(d.input), H = arguments.number(h.input), W = arguments.number(w.input);
  const std::string OD = arguments.number(d.window.outputs), OH = arguments.number(h.window.outputs), OW = arguments.number(w.window.outputs);
  std::string predicates;
  for (const auto& [letter, axis] : {std::pair{'d', &d}, {'h', &h}, {'w', &w}})
    predicates += meets(fmt::format("{}_meets_{}", name, letter), axis->window, node.transposed() || axis->dim < 0);
  file.helper("pack.cuh");
  file.kernel("window_sums.cuh", {{"meets", predicates}, {"name", name},
                        {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()},
                        {"kd", d.window.taps.values[0]}, {"kh", h.window.taps.values[0]}, {"kw", w.window.taps.values[0]}, {"X", x}, {"S", s},
                        {"D", D}, {"H", H}, {"W", W}, {"OD", OD}, {"OH", OH}, {"OW", OW}});
  file.launch(fmt::format("{}<<<{}, 256>>>({})", name, times(input.shape[0], input.shape[1]).text, arguments.passed()));
  file.traffic(4 * volume(input.shape), 0);
  file.technique(
      Technique::algebra,
      fmt::format(
          "`{}` sums, for every tap of the window, the inputs that it meets; the convolution itself is never computed.",
          name));
}

}  // namespace cudal1::families
