// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/device_code.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

using cuda_code::device_code;

namespace {

// What a pool makes of a row, for every row of results that it belongs to.
constexpr std::string_view pool_row = R"(    float across[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {{
      across[i] = row[FIRST + i * {stride_w}];
#pragma unroll
      for (int c = 1; c < {taps_w}; ++c) across[i] = {combine}(across[i], row[FIRST + i * {stride_w} + c * {dilation_w}]);
    }}
#pragma unroll
    for (int j = 0; j < {rows}; ++j) {{
      const int b = r - j * {stride_h};
      if (b < 0 || b % {dilation_h} != 0 || b / {dilation_h} >= {taps_h}) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) held[j][i] = {combine}(held[j][i], across[i]);
    }}
)";

// What a convolution of single channels makes of it.
constexpr std::string_view weighted_row = R"(#pragma unroll
    for (int j = 0; j < {rows}; ++j) {{
      const int b = r - j * {stride_h};
      if (b < 0 || b % {dilation_h} != 0 || b / {dilation_h} >= {taps_h}) continue;
#pragma unroll
      for (int c = 0; c < {taps_w}; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i) held[j][i] += weights[b / {dilation_h} * {taps_w} + c] * row[FIRST + i * {stride_w} + c * {dilation_w}];
    }}
)";

std::int64_t span(const Windows::Axis& axis) { return (axis.window.taps.values[0] - 1) * axis.window.dilation + 1; }

// What stands before a thread's first window in its first pack, and how many packs its windows take.
struct Packs {
  std::int64_t before, count;
};
Packs packs_of(const Windows::Axis& w) {
  const std::int64_t before = (w.window.padding + 3) / 4 * 4;
  return {before, (before - w.window.padding + 3 * w.window.stride + span(w) + 3) / 4};
}

}  // namespace

bool makes_strips(const Node& node, const Node& input) {
  const Windows windows = windows_of(node, input);
  const Windows::Axis &d = windows.axes[0], &h = windows.axes[1], &w = windows.axes[2];
  if (!d.fixed || !h.fixed || !w.fixed) return false;
  if (node.is<Convolution>()) {
    const auto one_channel = [&](const tensor::Extent& channels) { return channels.values == literal(node.as<Convolution>().groups, channels.values.size()).values; };
    if (node.transposed() || d.dim >= 0 || !one_channel(input.shape[1]) || !one_channel(node.shape[1])) return false;
    if (h.window.taps.values[0] * w.window.taps.values[0] > 49) return false;
  }
  // Beyond that, unrolling makes more code than it saves work.
  return packs_of(w).count <= 16 && d.window.taps.values[0] * span(h) * w.window.taps.values[0] <= 256;
}

// Bound by memory: every input of a pool, or of a convolution of single channels, is loaded once per strip of rows, sixteen
// bytes at a time.
void write_strips(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const Node& input = dag.at(node.operands[0]);
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"windows are covered for float32 only"};
  const Windows windows = windows_of(node, input);
  const Windows::Axis &d = windows.axes[0], &h = windows.axes[1], &w = windows.axes[2];
  const std::size_t rank = node.shape.size(), front = rank - node.windows().size();
  const bool most = node.is<Pool>() && node.as<Pool>().largest, aligned = w.input.values[0] % 4 == 0, weighted = node.is<Convolution>(), columns = file.variant().windows == Variant::Windows::by_columns && !aligned;
  const std::string name = file.unique(weighted ? "depthwise_convolution" : "pool");
  const std::string threads = file.tune("THREADS", {128, 256});
  const bool overlap = span(h) > h.window.stride;
  const std::string rows = file.tune("OUT_ROWS", h.dim < 0  ? std::vector<std::int64_t>{1}
                                                 : overlap && columns ? std::vector<std::int64_t>{4, 8, 2}
                                                 : overlap && h.window.stride == 1 ? std::vector<std::int64_t>{4, 2, 1}
                                                 : overlap ? std::vector<std::int64_t>{1, 2, 4}
                                                           : std::vector<std::int64_t>{1, 2});
  const bool deep = d.dim >= 0, planes_overlap = span(d) > d.window.stride && d.window.dilation == 1;
  const std::string depths = deep && planes_overlap ? file.tune("OUT_PLANES", {2, 1}) : "1";
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false);
  const std::string kernel = weighted ? arguments.pointer(buffers.at(node.operands[1]), node.dtype, false) : "";
  declare_epilogue(region, dag, arguments);
  const tensor::Extent planes = product_of(node.shape, 0, front, region.assignments);
  std::vector<std::string> at;
  std::string before = coordinates({node.shape.begin(), node.shape.begin() + static_cast<std::ptrdiff_t>(front)}, "plane",
                                   at, arguments);
  at.resize(rank);
  if (d.dim >= 0) at[static_cast<std::size_t>(d.dim)] = "at_d";
  if (h.dim >= 0) at[static_cast<std::size_t>(h.dim)] = "at_h";
  at[static_cast<std::size_t>(w.dim)] = "at_w";
  std::string divide;
  const std::size_t indent = columns ? 4 : 6;
  if (!most && !weighted) {
    const std::string by = divisor(node, windows, at, indent, arguments, divide);
    divide += fmt::format("{}produced {};\n", std::string(indent, ' '), divide.empty() ? fmt::format("*= 1 / {}", by) : fmt::format("/= {}", by));
  }
  const Epilogue after = epilogue(region, dag, at, indent, arguments);
  std::int64_t lanes = 1;
  while (lanes < 32 && lanes * 4 < w.window.outputs.values[0]) lanes *= 2;
  const std::string H = arguments.number(h.input), W = arguments.number(w.input);
  const std::string OD = arguments.number(d.window.outputs);
  const std::string neutral = most ? "__int_as_float(0xff800000)" : "0.0f", combine = most ? "Larger()" : "Sum()";
  const int width = columns ? 1 : 4;
  const std::string of_plane = fmt::format(
      "  float held[{0}][{2}];\n#pragma unroll\n  for (int j = 0; j < {0}; ++j)\n#pragma unroll\n"
      "    for (int i = 0; i < {2}; ++i) held[j][i] = {1};\n",
      rows, neutral, width);
  std::string held = of_plane, open, close, each_plane, end_plane, gone = columns ? "" : "!live", row = fmt::format("size_t(h0 + r) * {}", W);
  if (deep) {
    held = fmt::format("  float planes[{0}][{1}][{3}];\n#pragma unroll\n  for (int e = 0; e < {0}; ++e)\n#pragma unroll\n"
                       "    for (int j = 0; j < {1}; ++j)\n#pragma unroll\n      for (int i = 0; i < {3}; ++i) planes[e][j][i] = {2};\n",
                       depths, rows, neutral, width);
    open = fmt::format(
               "#pragma unroll\n  for (int a = 0; a < ({0} - 1) * {1} + {2}; a += {3}) {{\n  const int d = slab * ({0} * {1}) - {4} + a;\n"
               "  if (unsigned(d) >= unsigned({5})) continue;\n",
               depths, d.window.stride, span(d), d.window.dilation, d.window.padding, arguments.number(d.input)) +
           of_plane;
    close = fmt::format(
        "#pragma unroll\n  for (int e = 0; e < {0}; ++e) {{\n    if (a < e * {1} || a - e * {1} >= {2}) continue;\n#pragma unroll\n"
        "    for (int j = 0; j < {3}; ++j)\n#pragma unroll\n      for (int i = 0; i < {5}; ++i) planes[e][j][i] = {4}(planes[e][j][i], "
        "held[j][i]);\n  }}\n  }}\n",
        depths, d.window.stride, span(d), rows, combine, width);
    each_plane = fmt::format(
        "#pragma unroll\n  for (int e = 0; e < {0}; ++e) {{\n  const int at_d = slab * {0} + e;\n  const auto& held = planes[e];\n"
        "{1}",
        depths, columns ? "" : "  if (e > 0) __syncwarp();\n");
    end_plane = "  }\n";
    gone = fmt::format("{}at_d >= {}{}", columns ? "" : "!live || ", OD, columns ? " || " : "");
    row = fmt::format("(size_t(d) * {} + h0 + r) * {}", H, W);
  }
  const tensor::Extent results = product_of(node.shape, 0, rank, region.assignments);
  const std::string count = arguments.number(planes),
                    volume = arguments.number(product_of(input.shape, front, rank, region.assignments)),
                    OH = arguments.number(h.window.outputs), OW = arguments.number(w.window.outputs);
  if (!weighted) file.helper(device_code("operations.cuh"));
  if (!columns) file.helper(device_code("fetch_pack.cuh"));
  // Whether a window may reach beyond the input's columns.
  bool beyond = w.window.padding != 0;
  for (std::size_t i = 0; i < w.input.values.size(); ++i)
    beyond = beyond || (w.window.outputs.values[i] - 1) * w.window.stride + span(w) > w.input.values[i];
  const std::string gather = fmt::format(
      fmt::runtime(weighted ? weighted_row : pool_row), fmt::arg("rows", rows), fmt::arg("stride_h", h.window.stride),
      fmt::arg("dilation_h", h.window.dilation), fmt::arg("taps_h", h.window.taps.values[0]), fmt::arg("taps_w", w.window.taps.values[0]),
      fmt::arg("stride_w", w.window.stride), fmt::arg("dilation_w", w.window.dilation), fmt::arg("combine", combine));
  const std::int64_t taps = h.window.taps.values[0] * w.window.taps.values[0];
  const std::string weights = !weighted ? "" : fmt::format(
      "  float weights[{0}];\n#pragma unroll\n  for (int k = 0; k < {0}; ++k) weights[k] = {1}[size_t(live ? plane % {2} : 0) * {0} + k];\n",
      taps, kernel, arguments.number(node.shape[1]));
  const std::string index = index_type(*std::max_element(results.values.begin(), results.values.end()));
  const std::string_view kernel_code = columns ? "strip_columns.cuh" : "strips.cuh";
  file.code(device_code(kernel_code, cuda_code::holes_in(kernel_code, {{"name", name}, {"parameters", arguments.parameters()},
      {"forwarded", arguments.forwarded()}, {"threads", threads}, {"rows", rows},
      {"lanes", lanes}, {"packs", packs_of(w).count},
      {"first", packs_of(w).before - w.window.padding}, {"before_w", packs_of(w).before},
      {"step_w", 4 * w.window.stride}, {"stride_w", w.window.stride},
      {"dilation_w", w.window.dilation}, {"taps_w", w.window.taps.values[0]},
      {"stride_h", h.window.stride}, {"dilation_h", h.window.dilation},
      {"taps_h", h.window.taps.values[0]}, {"padding_h", h.window.padding},
      {"span_h", span(h)}, {"index", index}, {"to_index", conversion(index)},
      {"depth", deep ? fmt::format("  const int slabs = ({0} + {1} - 1) / {1}, slab = place / {2} / strips % slabs;\n", OD, depths, columns ? OW : "chunks") : ""},
      {"padding_w", w.window.padding}, {"inside_w", beyond ? fmt::format(" && unsigned(w) < unsigned({})", W) : ""},
      {"per_depth", deep ? " / slabs" : ""}, {"planes", count}, {"volume", volume},
      {"X", x}, {"H", H}, {"W", W}, {"OH", OH}, {"OW", OW},
      {"neutral", neutral}, {"combine", combine}, {"gather", gather}, {"weights", weights},
      {"combines", weighted ? "" : fmt::format(" It combines along a row first, then the rows{}.", deep ? ", then the planes" : "")},
      {"and_planes", deep ? fmt::format(" of {} planes", depths) : ""}, {"then_planes", deep ? ", then the planes" : ""},
      {"held", held}, {"each_plane", each_plane}, {"end_plane", end_plane}, {"gone", gone},
      {"open", open}, {"close", close}, {"row", row}, {"coordinates", before},
      {"divide", divide}, {"epilogue", after.statements}, {"store", after.store}})));
  const std::string across = columns ? in_parentheses(w.window.outputs.text) : fmt::format("ceil_div({}, {}) * {}", w.window.outputs.text, lanes * 4, lanes);
  file.launch(fmt::format("{0}<<<ceil_div({1} * {2} * ceil_div({3}, {4}) * {5}, {6}), {6}>>>({7})", name, in_parentheses(planes.text),
                          depths == "1" ? in_parentheses(d.window.outputs.text) : fmt::format("ceil_div({}, {})", d.window.outputs.text, depths),
                          h.window.outputs.text, rows, across, threads, arguments.passed()));
  double bytes = 4 * static_cast<double>(results.values[0]);
  file.traffic(bytes + 4 * algebra::volume(input.shape), weighted ? bytes / 2 * static_cast<double>(taps) : 0, aligned ? 1 : columns ? costs::unaligned_by_columns : costs::unaligned_strips);
  if (columns)
    file.technique(Technique::coalesced_access, fmt::format("Neighbouring threads of `{}` make neighbouring columns, as its rows are not aligned.", name));
  else
    file.technique(Technique::vectorised_access, fmt::format("`{}` reads 16 bytes per access where rows are aligned.", name));
  file.technique(Technique::register_tiling,
                 fmt::format("A thread of `{}` makes {} rows of {}{}, so that overlapping windows share what it has "
                             "loaded{}.",
                             name, rows, columns ? "one result" : "four results", depths == "1" ? "" : fmt::format(" in {} planes", depths),
                             weighted ? "" : ", and combines along rows before it combines rows"));
}

}  // namespace cudal1::families
