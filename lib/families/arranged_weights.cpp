// SPDX-License-Identifier: Apache-2.0
#include "families/arranged_weights.hpp"

#include "families/arguments.hpp"

#include <fmt/format.h>

namespace cudal1::families {

ArrangedWeights arrange_weights(const Windows& windows, std::int64_t groups, const tensor::Extent& channels,
                                const tensor::Extent& results, const std::string& weights, KernelFile& file) {
  const std::size_t assignments = channels.values.size();
  std::int64_t layers = groups, most = 1, taps = 1;
  std::string residues, rest = groups == 1 ? "blockIdx.z" : fmt::format("blockIdx.z / {}", groups);
  for (std::size_t i = 3; i-- > 0;) {
    const auto& [stride, padding, dilation, outputs, count] = windows.axes[i].window;
    const std::string up(1, "DHW"[i]), low(1, "dhw"[i]);
    const std::int64_t all = count.values[0];
    residues += taps_of_residue(windows.axes[i].window, low, up, fmt::format("{} % {}", rest, stride), std::to_string(all), "  ");
    rest += stride == 1 ? "" : fmt::format(" / {}", stride);
    layers *= stride;
    most *= (all + tap_step(windows.axes[i].window) - 1) / tap_step(windows.axes[i].window);
    taps *= all;
  }
  ArrangedWeights result;
  result.row = channels;
  result.row.text = fmt::format("ceil_div({} * {}, 4) * 4", in_parentheses(channels.text), most);
  for (std::int64_t& value : result.row.values) value = (value * most + 3) / 4 * 4;
  result.buffer = file.unique("S");
  file.scratch(result.buffer, "float32", {literal(layers, assignments), results, result.row});
  Arguments arguments(file.scalars());
  const std::string from = arguments.pointer(weights, tensor::Dtype::float32, false), to = arguments.pointer(result.buffer, tensor::Dtype::float32, true);
  const std::string C = arguments.number(channels), O = arguments.number(results), row = arguments.number(result.row), name = file.unique("arrange");
  const auto axis = [&](std::size_t i) { return windows.axes[i].window; };
  file.kernel("arrange_weights.cuh",
                        {{"name", name}, {"parameters", arguments.parameters()}, {"residues", residues}, {"row", row}, {"O", O}, {"C", C},
                         {"step_d", tap_step(axis(0))}, {"step_h", tap_step(axis(1))}, {"step_w", tap_step(axis(2))}, {"from", from},
                         {"groups", groups}, {"taps", taps}, {"KH", axis(1).taps.values[0]}, {"KW", axis(2).taps.values[0]}, {"to", to}});
  file.launch(fmt::format("{}<<<dim3(ceil_div({} * {}, 256), 1, {}), 256>>>({})", name, in_parentheses(results.text), in_parentheses(result.row.text), layers,
                          arguments.passed()));
  file.traffic(8.0 * static_cast<double>(layers * results.values[0] * result.row.values[0]), 0);
  file.technique(Technique::coalesced_access, fmt::format("`{}` puts the weights of each residue side by side, so that they are copied 16 bytes at a time.", name));
  return result;
}

}  // namespace cudal1::families
