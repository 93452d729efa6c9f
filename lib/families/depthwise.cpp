// SPDX-License-Identifier: Apache-2.0
#include "families/epilogue.hpp"
#include "families/extents.hpp"
#include "families/families.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

// How many results of a column a thread makes; 1: too few results for that.
int rows_of(const Node& node, const schedule::Machine& machine) {
  const double results = volume(node.shape);
  const std::int64_t height = node.shape[node.shape.size() - 2].values[0];
  for (const int rows : {8, 4, 2})
    if (results / rows >= static_cast<double>(machine.multiprocessors * machine.threads) && height >= 2 * rows) return rows;
  return 1;
}

}  // namespace

bool is_depthwise(const Node& node, const schedule::Machine& machine) {
  if (!node.is<Convolution>() || node.transposed() || node.windows().size() < 2) return false;
  if (node.as<Convolution>().groups == 1 || is_tiled_convolution(node)) return false;
  std::int64_t taps = 1;
  for (const Window& window : node.windows()) {
    if (!is_fixed(window.taps)) return false;
    taps *= window.taps.values[0];
  }
  return taps <= 49 && node.windows()[node.windows().size() - 2].dilation == 1 && rows_of(node, machine) > 1;
}

// Bound by memory: an input is loaded once for all the results of a column that it belongs to, where a thread per result
// would load it once for each.
void write_depthwise(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const Node &input = dag.at(node.operands[0]),
             &weights = dag.at(node.operands[1]);
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"windows are covered for float32 only"};
  const Windows windows = windows_of(node, input);
  const std::size_t rank = node.shape.size(), h_dim = rank - 2;
  const int rows = rows_of(node, file.machine());
  const std::string name = file.unique("depthwise_convolution");
  const std::string threads = file.tune("THREADS", {256, 128, 512});
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), input.dtype, false),
                    weight = arguments.pointer(buffers.at(node.operands[1]), weights.dtype, false);
  declare_epilogue(region, dag, arguments);
  tensor::Shape columns = node.shape;
  columns[h_dim] = ceil_div(columns[h_dim], rows);
  const tensor::Extent total = product_of(columns, 0, rank, region.assignments);
  const std::string count = arguments.number(total);
  std::vector<std::string> at;
  const std::string taken_apart = coordinates(columns, "index", at, arguments);
  const auto coordinate = [&](std::size_t i) { return at[i].empty() ? std::string("0") : at[i]; };
  const auto start = [&](std::size_t axis) {
    const Windows::Axis& each = windows.axes[axis];
    return each.dim < 0 ? std::string("0")
                        : fmt::format("{} * {} - {}", coordinate(static_cast<std::size_t>(each.dim)), each.window.stride,
                                      each.window.padding);
  };
  const std::string first = fmt::format("{} * {}", coordinate(h_dim), rows), w = start(2), d = start(0),
                    o = coordinate(1), b = coordinate(0);
  at[h_dim] = "row";
  const Epilogue after = epilogue(region, dag, at, 4, arguments);
  const std::string O = arguments.number(node.shape[1]), C = arguments.number(input.shape[1]),
                    own = arguments.number(weights.shape[1]), OH = arguments.number(node.shape[h_dim]),
                    plane = arguments.number(product_of(input.shape, 2, rank, region.assignments)),
                    D = arguments.number(windows.axes[0].input), H = arguments.number(windows.axes[1].input),
                    width = arguments.number(windows.axes[2].input);
  const std::int64_t stride = windows.axes[1].window.stride, high = windows.axes[1].window.taps.values[0];
  const std::int64_t groups = node.as<Convolution>().groups;
  const std::string index = index_type(*std::max_element(total.values.begin(), total.values.end()));
  file.kernel("depthwise.cuh", {{"threads", threads}, {"name", name}, {"rows", rows},
      {"index", index}, {"to_index", conversion(index)}, {"count", count},
      {"coordinates", taken_apart}, {"first", first}, {"o", o}, {"b", b}, {"d", d},
      {"w", w}, {"X", x}, {"W", weight}, {"O", O},
      {"C", C}, {"own", own},
      {"groups", groups}, {"plane", plane},
      {"taps", windows.taps().text}, {"KD", windows.axes[0].window.taps.text},
      {"KH", windows.axes[1].window.taps.text}, {"KW", windows.axes[2].window.taps.text},
      {"D", D}, {"H", H},
      {"width", width}, {"dilation_d", windows.axes[0].window.dilation},
      {"dilation_w", windows.axes[2].window.dilation}, {"stride_h", stride},
      {"padding_h", windows.axes[1].window.padding}, {"rows_read", (rows - 1) * stride + high},
      {"OH", OH}, {"epilogue", after.statements},
      {"store", after.store}, {"parameters", arguments.parameters()}});
  file.launch(fmt::format("{}<<<ceil_div({}, {}), {}>>>({})", name, total.text, threads, threads, arguments.passed()));
  const double results = volume(node.shape);
  file.traffic(4 * (volume(input.shape) + results), 2 * results * static_cast<double>(windows.taps().values[0] * weights.shape[1].values[0]));
  file.technique(Technique::register_tiling, fmt::format("A thread of `{}` makes {} results below each other and loads what they share once.", name, rows));
  file.technique(Technique::coalesced_access, fmt::format("Neighbouring threads of `{}` make neighbouring results from neighbouring inputs.", name));
}

}  // namespace cudal1::families
