// SPDX-License-Identifier: Apache-2.0
#include "families/windows.hpp"

#include "algebra/dag.hpp"
#include "families/arguments.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

constexpr std::int64_t largest_tile = 128;  // of results

// One axis as the kernel sees it: of a transposed convolution each residue by the stride is one of stride 1.
struct Axis {
  std::int64_t stride, step, taps, least_taps;
  std::int64_t span() const { return (taps - 1) * step + 1; }
  std::int64_t pitch() const { return std::min(stride, span()); }
};

Axis axis_of(const Window& window, bool transposed) {
  const std::int64_t taps = window.taps.values[0];
  if (!transposed) return {window.stride, window.dilation, taps, taps};
  if (window.stride == 1) return {1, window.dilation, taps, taps};
  const std::int64_t step = tap_step(window);
  return {1, input_step(window), (taps + step - 1) / step, std::max<std::int64_t>(1, window.stride == step ? taps / step : 1)};
}

HaloTile::Axis text_of(const Axis& axis, const std::string& low, const std::string& up, const std::string& at, bool transposed, bool split) {
  HaloTile::Axis result;
  result.span = !split ? std::to_string(axis.span()) : axis.step == 1 ? "T" + up : fmt::format("max(0, (T{} - 1) * {} + 1)", up, axis.step);
  result.low = transposed ? fmt::format("add_{} - (T{} - 1) * {}", low, up, axis.step) : "add_" + low;
  // Between windows that do not meet there is nothing to keep.
  result.row = axis.stride > axis.span() ? fmt::format("{0} / {1} * {2} + {0} % {1}", at, axis.span(), axis.stride) : at;
  result.shift = transposed ? fmt::format("(T{} - 1 - {}) * {}", up, low, axis.step) : fmt::format("{} * {}", low, axis.step);
  return result;
}

}  // namespace

std::optional<HaloTile> halo_tile(const Node& node, const Node& input, const Windows& windows, const std::string& tile,
                                      std::int64_t stages, const schedule::Machine& machine) {
  const bool transposed = node.transposed();
  const auto split = [&](std::size_t i) { return transposed && windows.axes[i].window.stride > 1; };
  for (const Windows::Axis& axis : windows.axes)
    if (!axis.fixed) return {};
  for (std::size_t i = 0; i < input.shape[0].values.size(); ++i) {
    std::int64_t inputs = 1;
    for (const tensor::Extent& extent : input.shape) inputs *= extent.values[i];
    if (inputs >= std::int64_t{1} << 31) return {};
  }
  const Axis h = axis_of(windows.axes[1].window, transposed), w = axis_of(windows.axes[2].window, transposed);
  HaloTile result;
  result.h = text_of(h, "h", "H", "row", transposed, split(1));
  result.w = text_of(w, "w", "W", "at", transposed, split(2));
  result.packs = w.stride <= w.span();

  // Results along an axis, of the residue with the most of them and with the fewest.
  const auto most = [&](std::size_t i) {
    const Window& window = windows.axes[i].window;
    return split(i) ? ceil_div(window.outputs, window.stride) : window.outputs;
  };
  const auto least = [&](std::size_t i) {
    const Window& window = windows.axes[i].window;
    if (!split(i)) return window.outputs;
    const tensor::Extent extent = divided(window.outputs, window.stride);
    return changed(extent, fmt::format("max(1, {})", extent.text), [](std::int64_t value) { return std::max<std::int64_t>(1, value); });
  };
  // Where rows share inputs, tiles of several rows have the least to copy. Strips as wide as tiles want them leave up to a
  // twentieth idle, others are as even as can be.
  const std::int64_t columns = most(2).values[0], widest = h.span() > h.pitch() ? 32 : largest_tile, strips = (columns + widest - 1) / widest;
  result.strip = strips * widest * 20 <= columns * 21 ? widest : (columns + strips - 1) / strips;
  const std::int64_t used = (result.strip - 1) * w.pitch() + w.span();
  // Four neighbouring taps are met at a time, in two rows at most: these shall lie half of the banks apart.
  result.line = (used + 6) / 4 * 4;
  while (result.line % 32 < 12 || result.line % 32 > 20) result.line += 4;

  // Lines that a tile touches, and the rows that these need when all samples' lie one below the other.
  const bool even = 64 % result.strip == 0, whole = result.strip % largest_tile == 0;
  const std::int64_t lines = even ? largest_tile / result.strip : whole ? 1 : (largest_tile + result.strip - 2) / result.strip + 1;
  const std::string touched = even    ? fmt::format("{} / {}", tile, result.strip)
                              : whole ? "1"
                                      : fmt::format("(({0} + {1} - 2) / {1} + 1)", tile, result.strip);
  const tensor::Extent fewest = least(1);
  // Of all residues the one that needs most: few taps are met by many planes, many by high ones.
  std::vector<std::int64_t> bytes(fewest.values.size());
  std::set<std::string> needs;
  for (const std::int64_t high : {h.taps, h.least_taps})
    for (const std::int64_t broad : {w.taps, w.least_taps}) {
      const std::int64_t window = high * broad, span = (high - 1) * h.step + 1, pitch = std::min(h.stride, span);
      const std::string rows = fmt::format("(({0} - 1) * {1} + {2}{3})", touched, pitch, span,
                                           span == pitch ? "" : fmt::format(" + ceil_div({} - 1, {}) * {}", touched, fewest.text, span - pitch));
      needs.insert(fmt::format("{} * ({} * {} + {} * 3)", rows, (32 * stages + window - 1) / window + 1, result.line, used));
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::int64_t n = lines,
                           all = (n - 1) * pitch + span + (n + fewest.values[i] - 2) / fewest.values[i] * (span - pitch);
        bytes[i] = std::max(bytes[i], 4 * (stages * 64 * 36 + largest_tile * 5 + 64 + all * (((32 * stages + window - 1) / window + 1) * result.line + used * 3)));
      }
    }
  for (const std::string& each : needs) result.floats = result.floats.empty() ? each : fmt::format("max({}, {})", result.floats, each);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    // Tiles of 128 output channels take 27 KiB more.
    if (bytes[i] > (i == 0 ? machine.shared_bytes / 2 - (2 << 10) : machine.shared_bytes_of_block - (37 << 10))) return {};
  result.strips = fmt::format("ceil_div({}, {})", most(2).text, result.strip);
  result.positions = fmt::format("{} * {}", times(times(input.shape[0], most(0)), most(1)).text, result.strip);

  // As many threads copy a plane as leave the fewest idle.
  const std::int64_t typical = ((largest_tile + result.strip - 1) / result.strip - 1) * h.pitch() + h.span(),
                     elements = typical * (result.packs && windows.axes[2].input.values[0] % 4 == 0 ? (used + 6) / 4 : used);
  std::int64_t best = 0;
  for (const std::int64_t lanes : {128, 64, 32}) {
    const std::int64_t turns = (32 / (h.taps * w.taps) + 128 / lanes) / (128 / lanes) * ((elements + lanes - 1) / lanes);
    if (best == 0 || turns < best) best = turns, result.lanes = lanes;
  }
  return result;
}

ArrangedWeights arrange_weights(const Windows& windows, std::int64_t groups, const tensor::Extent& channels,
                                const tensor::Extent& results, const std::string& weights, KernelFile& file) {
  std::int64_t layers = groups, most = 1, taps = 1;
  std::string residues, rest = groups == 1 ? "blockIdx.z" : fmt::format("blockIdx.z / {}", groups);
  for (std::size_t i = 3; i-- > 0;) {
    const auto& [stride, padding, dilation, outputs, count] = windows.axes[i].window;
    const std::string low = lower_names[i], up = upper_names[i];
    const std::int64_t all = count.values[0];
    residues += taps_of_residue(windows.axes[i].window, low, up, fmt::format("{} % {}", rest, stride), std::to_string(all), "  ");
    rest += stride == 1 ? "" : fmt::format(" / {}", stride);
    layers *= stride;
    most *= (all + tap_step(windows.axes[i].window) - 1) / tap_step(windows.axes[i].window);
    taps *= all;
  }
  ArrangedWeights result;
  result.row = round_up(changed(channels, fmt::format("{} * {}", in_parentheses(channels.text), most), [&](std::int64_t value) { return value * most; }), 4);
  result.buffer = file.new_scratch("S", "float32", {literal(layers, channels.values.size()), results, result.row});
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
