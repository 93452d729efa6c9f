// SPDX-License-Identifier: Apache-2.0
#include "families/device_functions.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

constexpr std::string_view fetch_pack =
    R"(// Four neighbours of a row, `outside` where it has none. WHOLE: they are aligned, and all or none of them exist.
template <bool WHOLE>
__device__ __forceinline__ void fetch_pack(float* to, const float* row, int column, int columns, bool there, float outside) {
  if (WHOLE) {
    const bool inside = there && unsigned(column) < unsigned(columns);
    const float4 pack = inside ? *reinterpret_cast<const float4*>(row + column) : make_float4(outside, outside, outside, outside);
    to[0] = pack.x, to[1] = pack.y, to[2] = pack.z, to[3] = pack.w;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = there && unsigned(column + i) < unsigned(columns) ? row[column + i] : outside;
  }
}
)";

constexpr std::string_view code = R"(template <bool WHOLE>
__device__ __forceinline__ void {name}_body({parameters}) {{
  // A thread makes four neighbouring results of {rows} rows{and_planes}.{combines}
  // Results change lanes in shared memory, so that neighbours are stored by neighbours.
  constexpr int LANES = {lanes}, PACKS = {packs}, FIRST = {first}, INPUT_ROWS = ({rows} - 1) * {stride_h} + {span_h};
  __shared__ __align__(16) float results[{threads} / 32][{rows}][128];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
  const int chunks = ({OW} + LANES * 4 - 1) / (LANES * 4), strips = ({OH} + {rows} - 1) / {rows};
  const {index} place = ({index}(blockIdx.x) * {threads} + threadIdx.x) / LANES;
  const int chunk = place % chunks, strip = place / chunks % strips;
{depth}  const {index} plane = place / chunks / strips{per_depth};
  const bool live = plane < {planes};
  const float* x = {X} + size_t(live ? plane : 0) * {volume};
  const int w0 = (chunk * LANES + lane) * {step_w} - {before_w}, h0 = strip * {rows} * {stride_h} - {padding_h};
{held}{weights}{open}#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {{
    const bool there = live && unsigned(h0 + r) < unsigned({H});
    float row[PACKS * 4];
#pragma unroll
    for (int q = 0; q < PACKS; ++q)
      fetch_pack<WHOLE>(row + q * 4, x + {row}, w0 + q * 4, {W}, there, {neutral});
{gather}  }}
{close}{coordinates}{each_plane}#pragma unroll
  for (int j = 0; j < {rows}; ++j)
    *reinterpret_cast<float4*>(&results[warp][j][threadIdx.x % 32 * 4]) = make_float4(held[j][0], held[j][1], held[j][2], held[j][3]);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < {rows}; ++j) {{
    const int at_h = strip * {rows} + j;
    if ({gone} || at_h >= {OH}) break;
#pragma unroll
    for (int i = 0; i < 4; ++i) {{
      const int at_w = (chunk * 4 + i) * LANES + lane;
      if (at_w >= {OW}) break;
      float produced = results[warp][j][threadIdx.x % 32 / LANES * LANES * 4 + i * LANES + lane];
{divide}{epilogue}      {store}
    }}
  }}
{end_plane}}}

__global__ void __launch_bounds__({threads}) {name}({parameters}) {{
  if ({W} % 4 == 0) {name}_body<true>({forwarded});
  else {name}_body<false>({forwarded});
}}
)";

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

// Where rows are not aligned: a thread's four neighbours would lie in as many sectors as there are lanes.
constexpr std::string_view column_code = R"(__global__ void __launch_bounds__({threads}) {name}({parameters}) {{
  // A thread makes {rows} results of a column{and_planes}, its neighbours those beside them, so that neighbours are loaded and stored by
  // neighbours. It combines along a row first, then the rows{then_planes}.
  constexpr int INPUT_ROWS = ({rows} - 1) * {stride_h} + {span_h};
  const int strips = ({OH} + {rows} - 1) / {rows};
  const {index} place = {index}(blockIdx.x) * {threads} + threadIdx.x;
  const int at_w = place % {OW}, strip = place / {OW} % strips;
{depth}  const {index} plane = place / {OW} / strips{per_depth};
  if (plane >= {planes}) return;
  const float* x = {X} + size_t(plane) * {volume};
  const int w0 = at_w * {stride_w} - {padding_w}, h0 = strip * {rows} * {stride_h} - {padding_h};
{held}{open}#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {{
    const bool there = unsigned(h0 + r) < unsigned({H});
    float across = {neutral};
#pragma unroll
    for (int c = 0; c < {taps_w}; ++c) {{
      const int w = w0 + c * {dilation_w};
      across = {combine}(across, there{inside_w} ? x[{row} + w] : {neutral});
    }}
#pragma unroll
    for (int j = 0; j < {rows}; ++j) {{
      const int b = r - j * {stride_h};
      if (b < 0 || b % {dilation_h} != 0 || b / {dilation_h} >= {taps_h}) continue;
      held[j][0] = {combine}(held[j][0], across);
    }}
  }}
{close}{coordinates}{each_plane}#pragma unroll
  for (int j = 0; j < {rows}; ++j) {{
    const int at_h = strip * {rows} + j;
    if ({gone}at_h >= {OH}) break;
    float produced = held[j][0];
{divide}{epilogue}    {store}
  }}
{end_plane}}}
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
  if (node.kind == Kind::convolution) {
    const auto one_channel = [&](const tensor::Extent& channels) { return channels.values == literal(std::get<std::int64_t>(node.attributes.at("groups")), channels.values.size()).values; };
    if (node.function == "conv_transpose" || d.dim >= 0 || !one_channel(input.shape[1]) || !one_channel(node.shape[1])) return false;
    if (h.window.taps.values[0] * w.window.taps.values[0] > 49) return false;
  }
  // Beyond that, unrolling makes more code than it saves work.
  return packs_of(w).count <= 16 && d.window.taps.values[0] * span(h) * w.window.taps.values[0] <= 256;
}

// Bound by memory: every input of a pool, or of a convolution of single channels, is loaded once per strip of rows, sixteen
// bytes at a time.
void write_strips(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(region.producer)];
  const Node& input = dag.nodes[static_cast<std::size_t>(node.operands[0])];
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"windows are covered for float32 only"};
  const Windows windows = windows_of(node, input);
  const Windows::Axis &d = windows.axes[0], &h = windows.axes[1], &w = windows.axes[2];
  const std::size_t rank = node.shape.size(), front = rank - node.windows.size();
  const bool most = node.function == "max", aligned = w.input.values[0] % 4 == 0, weighted = node.kind == Kind::convolution, columns = file.style().columns && !aligned;
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
  if (!weighted) file.helper(device_functions::operations);
  if (!columns) file.helper(fetch_pack);
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
  file.code(fmt::format(
      fmt::runtime(columns ? column_code : code), fmt::arg("name", name), fmt::arg("parameters", arguments.parameters()),
      fmt::arg("forwarded", arguments.forwarded()), fmt::arg("threads", threads), fmt::arg("rows", rows),
      fmt::arg("lanes", lanes), fmt::arg("packs", packs_of(w).count),
      fmt::arg("first", packs_of(w).before - w.window.padding), fmt::arg("before_w", packs_of(w).before),
      fmt::arg("step_w", 4 * w.window.stride), fmt::arg("stride_w", w.window.stride),
      fmt::arg("dilation_w", w.window.dilation), fmt::arg("taps_w", w.window.taps.values[0]),
      fmt::arg("stride_h", h.window.stride), fmt::arg("dilation_h", h.window.dilation),
      fmt::arg("taps_h", h.window.taps.values[0]), fmt::arg("padding_h", h.window.padding),
      fmt::arg("span_h", span(h)), fmt::arg("index", index_type(*std::max_element(results.values.begin(), results.values.end()))),
      fmt::arg("depth", deep ? fmt::format("  const int slabs = ({0} + {1} - 1) / {1}, slab = place / {2} / strips % slabs;\n", OD, depths, columns ? OW : "chunks") : ""),
      fmt::arg("padding_w", w.window.padding), fmt::arg("inside_w", beyond ? fmt::format(" && unsigned(w) < unsigned({})", W) : ""),
      fmt::arg("per_depth", deep ? " / slabs" : ""), fmt::arg("planes", count), fmt::arg("volume", volume),
      fmt::arg("X", x), fmt::arg("H", H), fmt::arg("W", W), fmt::arg("OH", OH), fmt::arg("OW", OW),
      fmt::arg("neutral", neutral), fmt::arg("combine", combine), fmt::arg("gather", gather), fmt::arg("weights", weights),
      fmt::arg("combines", weighted ? "" : fmt::format(" It combines along a row first, then the rows{}.", deep ? ", then the planes" : "")),
      fmt::arg("and_planes", deep ? fmt::format(" of {} planes", depths) : ""), fmt::arg("then_planes", deep ? ", then the planes" : ""),
      fmt::arg("held", held), fmt::arg("each_plane", each_plane), fmt::arg("end_plane", end_plane), fmt::arg("gone", gone),
      fmt::arg("open", open), fmt::arg("close", close), fmt::arg("row", row), fmt::arg("coordinates", before),
      fmt::arg("divide", divide), fmt::arg("epilogue", after.statements), fmt::arg("store", after.store)));
  const std::string across = columns ? in_parentheses(w.window.outputs.text) : fmt::format("ceil_div({}, {}) * {}", w.window.outputs.text, lanes * 4, lanes);
  file.launch(fmt::format("{0}<<<ceil_div({1} * {2} * ceil_div({3}, {4}) * {5}, {6}), {6}>>>({7})", name, in_parentheses(planes.text),
                          depths == "1" ? in_parentheses(d.window.outputs.text) : fmt::format("ceil_div({}, {})", d.window.outputs.text, depths),
                          h.window.outputs.text, rows, across, threads, arguments.passed()));
  double bytes = 4 * static_cast<double>(results.values[0]);
  double read = 4;
  for (const tensor::Extent& extent : input.shape) read *= static_cast<double>(extent.values[0]);
  // What lanes find in sectors of their own passes the L1 cache more often than once.
  file.traffic(bytes + read, weighted ? bytes / 2 * static_cast<double>(taps) : 0, aligned ? 1 : columns ? 0.9 : 0.7);
  if (columns)
    file.technique(Technique::coalesced_access, fmt::format("Neighbouring threads of `{}` make neighbouring columns, as its rows are not aligned.", name));
  else
    file.technique(Technique::vectorised_access, fmt::format("`{}` reads 16 bytes per access where rows are aligned.", name));
  file.technique(Technique::register_tiling,
                 fmt::format("A thread of `{}` makes {} rows of {}{}, so that overlapping windows share what it has "
                             "loaded{}.",
                             name, rows, columns ? "one result" : "four results", depths == "1" ? "" : fmt::format(" in {} planes", depths),
                             weighted ? "" : ", and combines along rows before it combines rows"));
  if (region.instances.size() > 1)
    file.technique(Technique::fusion, fmt::format("What follows happens in the registers of `{}`.", name));
  file.end_family();
}

}  // namespace cudal1::families
