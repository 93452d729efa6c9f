// SPDX-License-Identifier: Apache-2.0
#include "families/windows.hpp"

#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::families {

bool is_fixed(const tensor::Extent& taps) {
  return std::all_of(taps.values.begin(), taps.values.end(), [&](std::int64_t value) { return value == taps.values[0]; });
}

Windows windows_of(const Node& node, const Node& input) {
  const std::size_t spatial = node.windows().size(), assignments = node.shape[0].values.size();
  const std::size_t front = node.shape.size() - spatial;
  Windows result;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i + spatial < 3) {
      const tensor::Extent one = literal(1, assignments);
      result.axes.push_back({one, Window{1, 0, 1, one, one}, -1});
      continue;
    }
    const std::size_t axis = i + spatial - 3;
    result.axes.push_back({input.shape[front + axis], node.windows()[axis], static_cast<int>(front + axis)});
  }
  for (Windows::Axis& axis : result.axes) {
    axis.fixed = is_fixed(axis.window.taps);
    if (axis.fixed) axis.window.taps.text = std::to_string(axis.window.taps.values[0]);
  }
  return result;
}

bool has_residues(const Node& convolution, const Window& window) { return convolution.transposed() && window.stride > 1; }

std::int64_t results_of_residue(const Node& convolution, const Window& window) {
  return has_residues(convolution, window) ? ceil_div(window.outputs.values[0], window.stride) : window.outputs.values[0];
}

std::int64_t kinds_of_tiles(const Node& convolution, const Windows& windows) {
  std::int64_t result = convolution.as<Convolution>().groups;
  for (const Windows::Axis& axis : windows.axes) result *= has_residues(convolution, axis.window) ? axis.window.stride : 1;
  return result;
}

std::int64_t tap_step(const Window& window) { return window.stride / std::gcd(window.stride, window.dilation); }
std::int64_t input_step(const Window& window) { return window.dilation / std::gcd(window.stride, window.dilation); }

std::string taps_of_residue(const Window& window, const std::string& low, const std::string& up, const std::string& residue, const std::string& taps, const std::string& indent) {
  const std::int64_t stride = window.stride, dilation = window.dilation;
  const std::string sum = fmt::format("({} + {})", residue, window.padding);
  if (dilation == 1)
    return fmt::format("{0}const int first_{1} = {2} % {3}, T{4} = ({5} - first_{1} + {6}) / {3}, add_{1} = {2} / {3};\n", indent, low, sum, stride, up, taps, stride - 1);
  const std::int64_t step = tap_step(window);
  return fmt::format("{0}int first_{1} = 0;\n{0}while (first_{1} < {2} && ({3} - first_{1} * {4}) % {5} != 0) ++first_{1};\n", indent, low, taps, sum, dilation, stride) +
         fmt::format("{0}const int T{1} = ({2} - first_{3} + {4}) / {5}, add_{3} = ({6} - first_{3} * {7}) / {8};\n", indent, up, taps, low, step - 1, step, sum, dilation, stride);
}

tensor::Extent Windows::taps() const {
  tensor::Extent result = literal(1, axes[0].window.taps.values.size());
  for (const Axis& axis : axes) result = times(result, axis.window.taps);
  const bool constant = std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.fixed; });
  return constant ? literal(result.values[0], result.values.size()) : result;
}

std::vector<std::string> Windows::result() const {
  std::vector<std::string> result = {"at_b", "at_o"};
  for (std::size_t i = 0; i < 3; ++i)
    if (axes[i].dim >= 0) result.push_back(fmt::format("at_{}", lower_names[i]));
  return result;
}

double operations_of(const Node& convolution, const Node& input) {
  double result = 2 * volume(convolution.shape) * static_cast<double>(input.shape[1].values[0]) / static_cast<double>(convolution.as<Convolution>().groups);
  for (const Window& window : convolution.windows()) result *= static_cast<double>(window.taps.values[0]);
  for (const Window& window : convolution.windows()) result /= static_cast<double>(convolution.transposed() ? window.stride : 1);
  return result;
}

std::string divisor(const Node& node, const Windows& windows, const std::vector<std::string>& at, std::size_t indent,
                    Arguments& arguments, std::string& before) {
  if (const auto fixed = node.as<Pool>().divisor) return fmt::format("{}.0f", *fixed);
  const bool include = node.as<Pool>().counts_padding;
  const std::string margin(indent, ' ');
  std::string result;
  for (std::size_t i = 0; i < 3; ++i) {
    const Windows::Axis& axis = windows.axes[i];
    if (axis.dim < 0) continue;
    const auto& [stride, padding, dilation, outputs, taps] = axis.window;
    bool whole = include || padding == 0;  // no window is cut
    for (std::size_t k = 0; k < outputs.values.size(); ++k)
      whole = whole && (outputs.values[k] - 1) * stride + taps.values[k] <= axis.input.values[k] + 2 * padding;
    std::string count = arguments.number(taps);
    if (!whole) {
      const std::string start = fmt::format("start_{}", lower_names[i]);
      const std::string extent = arguments.number(axis.input);
      before +=
          fmt::format("{}const int {} = {} * {} - {};\n", margin, start,
                      at[static_cast<std::size_t>(axis.dim)].empty() ? "0" : at[static_cast<std::size_t>(axis.dim)],
                      stride, padding);
      before += fmt::format("{5}const int count_{0} = min({1} + {2}, {3}) - {4};\n", lower_names[i], start, count,
                            include ? fmt::format("{} + {}", extent, padding) : extent,
                            include ? start : fmt::format("max({}, 0)", start), margin);
      count = fmt::format("count_{}", lower_names[i]);
    }
    result += (result.empty() ? "" : " * ") + count;
  }
  return fmt::format("float({})", result);
}

namespace {

constexpr const char* tap_names[] = {"a", "b", "c"};

// Loops over the taps of one result; `body` sees the inputs' coordinates d, h, w and the taps a, b, c.
std::string tap_loops(const Windows& windows, const std::vector<std::string>& at, bool transposed,
                      const std::vector<std::string>& body, Arguments& arguments) {
  std::string open, close;
  std::string margin = "    ";
  for (std::size_t i = 0; i < 3; ++i) {
    const Windows::Axis& axis = windows.axes[i];
    if (axis.dim < 0) continue;
    const std::string extent = arguments.number(axis.input), taps = arguments.number(axis.window.taps);
    const std::string result =
        at[static_cast<std::size_t>(axis.dim)].empty() ? "0" : at[static_cast<std::size_t>(axis.dim)];
    const bool unroll = axis.fixed && axis.window.taps.values[0] <= 16;
    if (unroll) open += "#pragma unroll\n";
    open += fmt::format("{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", margin, tap_names[i], taps);
    close = margin + "}\n" + close;
    margin += "  ";
    const auto& [stride, padding, dilation, outputs, count] = axis.window;
    const std::string step = dilation == 1 ? tap_names[i] : fmt::format("{} * {}", tap_names[i], dilation);
    if (!transposed) {
      const std::string start = stride == 1 ? result : fmt::format("{} * {}", result, stride);
      open += fmt::format("{}const int {} = {}{} + {};\n", margin, lower_names[i], start,
                          padding == 0 ? "" : fmt::format(" - {}", padding), step);
      open += fmt::format("{}if ({}{} >= {}) continue;\n", margin,
                          padding == 0 ? "" : fmt::format("{} < 0 || ", lower_names[i]), lower_names[i], extent);
    } else {
      open += fmt::format("{0}const int from_{1} = {2}{3} - {4}, {1} = from_{1} / {5};\n", margin, lower_names[i],
                          result, padding == 0 ? "" : fmt::format(" + {}", padding), step, stride);
      open += fmt::format("{0}if (from_{1} < 0 || from_{1} % {2} != 0 || {1} >= {3}) continue;\n", margin,
                          lower_names[i], stride, extent);
    }
  }
  for (const std::string& line : body) open += margin + line + "\n";
  return open + close;
}

// "(d * H + h) * W + w" over the axes that there are.
std::string flat(const Windows& windows, const char* const* names, bool taps, Arguments& arguments) {
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) {
    if (windows.axes[i].dim < 0) continue;
    const std::string extent = arguments.number(taps ? windows.axes[i].window.taps : windows.axes[i].input);
    text = text.empty() ? names[i] : fmt::format("({}) * {} + {}", text, extent, names[i]);
  }
  return text;
}

// What a thread makes of the windows of one result: `produced`.
std::string pooled(const Region& region, const Node& node, const Windows& windows, const std::vector<std::string>& at, const std::string& X, const std::string& plane,
                   const std::string& here, Arguments& arguments) {
  std::string body;
  const std::size_t rank = node.shape.size(), front = rank - node.windows().size();
  const bool most = node.as<Pool>().largest;
  const std::string results = arguments.number(product_of(node.shape, front, rank, region.assignments));
  body += fmt::format("  const float* x = {} + size_t(index / {}) * {};\n", X, results, plane);
  body += fmt::format("  float produced = {};\n", most ? "__int_as_float(0xff800000)" : "0");
  std::string loops = tap_loops(
      windows, at, false,
      {fmt::format("const float value = x[{}];", here),
       most ? "produced = value > produced || value != value ? value : produced;" : "produced += value;"},
      arguments);
  body += loops;
  if (!most) {
    const std::string by = divisor(node, windows, at, 2, arguments, body);
    body += fmt::format("  produced /= {};\n", by);
  }
  return body;
}

std::string convolved(const Node& node, const Node& input, const Node& weights, const Windows& windows, const std::vector<std::string>& at, const std::string& X,
                      const std::string& weight, const std::string& plane, const std::string& here, Arguments& arguments) {
  std::string body;
  const bool transposed = node.transposed();
  const auto coordinate = [&](std::size_t i) { return at[i].empty() ? std::string("0") : at[i]; };
  const std::int64_t groups = node.as<Convolution>().groups;
  const std::string channels = arguments.number(input.shape[1]);
  const std::string taps = arguments.number(windows.taps());
  const std::string own = arguments.number(weights.shape[1]);  // of a group: inputs, or results when transposed
  const std::string results = arguments.number(node.shape[1]);
  const std::string o = coordinate(1);
  const std::string each = transposed ? (groups == 1 ? channels : fmt::format("({} / {})", channels, groups)) : own;
  const std::string group = groups == 1  ? "0"
                            : transposed ? fmt::format("{} / {}", o, own)
                                         : fmt::format("{} / ({} / {})", o, results, groups);
  body += fmt::format("  const int group = {};\n", group);
  body += fmt::format("  const float* x = {} + (size_t({}) * {} + group * {}) * {};\n", X, coordinate(0), channels,
                      each, plane);
  body += transposed
              ? fmt::format("  const float* weights = {} + (size_t(group) * {} * {} + ({} - group * {})) * {};\n",
                            weight, each, own, o, own, taps)
              : fmt::format("  const float* weights = {} + size_t({}) * {} * {};\n", weight, o, own, taps);
  body += "  float produced = 0;\n";
  body += fmt::format("  for (int channel = 0; channel < {}; ++channel, x += {}, weights += {}) {{\n", each, plane,
                      transposed ? fmt::format("{} * {}", own, taps) : taps);
  body += tap_loops(
      windows, at, transposed,
      {fmt::format("produced += x[{}] * weights[{}];", here, flat(windows, tap_names, true, arguments))}, arguments);
  body += "  }\n";
  return body;
}

}  // namespace

// Bound by memory, or by the cache that serves overlapping windows: a thread per result, neighbours beside each other.
void write_windows(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const Node& input = dag.at(node.operands[0]);
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"windows are covered for float32 only"};
  const bool pool = node.is<Pool>(), transposed = node.transposed();
  const Windows windows = windows_of(node, input);
  const std::size_t rank = node.shape.size(), front = rank - node.windows().size();
  const std::string name = file.unique(pool ? "pool" : transposed ? "transposed_convolution" : "direct_convolution");
  const std::string threads = file.tune("THREADS", {256, 128, 512});
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false);
  const std::string weight = pool ? "" : arguments.pointer(buffers.at(node.operands[1]), node.dtype, false);
  declare_epilogue(region, dag, arguments);
  const tensor::Extent total = product_of(node.shape, 0, rank, region.assignments);
  const std::string count = arguments.number(total);
  std::vector<std::string> at;
  std::string body = coordinates(node.shape, "index", at, arguments);
  const std::string plane = arguments.number(product_of(input.shape, front, rank, region.assignments));
  const std::string here = flat(windows, lower_names, false, arguments);
  body += pool ? pooled(region, node, windows, at, x, plane, here, arguments)
               : convolved(node, input, dag.at(node.operands[1]), windows, at, x, weight, plane, here, arguments);
  const Epilogue after = epilogue(region, dag, at, 2, arguments);
  const std::string index = index_type(*std::max_element(total.values.begin(), total.values.end()));
  file.code(fmt::format(
      "__global__ void __launch_bounds__({}) {}({}) {{\n  const {} index = {}(blockIdx.x) * {} + threadIdx.x;\n"
      "  if (index >= {}) return;\n{}{}  {}\n}}\n",
      threads, name, arguments.parameters(), index, conversion(index), threads, count, body, after.statements, after.store));
  file.launch(fmt::format("{}<<<ceil_div({}, {}), {}>>>({})", name, total.text, threads, threads, arguments.passed()));
  file.traffic(4 * (volume(input.shape) + volume(node.shape)), pool ? 0 : costs::direct_convolution * operations_of(node, input), pool ? costs::direct_pool : 1);
  file.technique(Technique::coalesced_access,
                 fmt::format("Neighbouring threads of `{}` make neighbouring results from neighbouring inputs.", name));
  file.technique(Technique::unrolling,
                 fmt::format("The taps of `{}` are unrolled, so that their loads are in flight together.", name));
}

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
