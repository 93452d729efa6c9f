// SPDX-License-Identifier: Apache-2.0
#include "families/epilogue.hpp"
#include "families/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

// Bound by memory: neighbouring threads copy neighbours of one row, or of one row of the result where columns are named.
void write_gather(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const Node &table = dag.at(node.operands[0]), &named = dag.at(node.operands[1]);
  const bool rows = node.as<Gather>().rows;
  const std::string name = file.unique("gather");
  const std::string items = file.tune("ITEMS", {4, 2, 8});
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), table.dtype, false),
                    which = arguments.pointer(buffers.at(node.operands[1]), named.dtype, false);
  declare_epilogue(region, dag, arguments);
  const tensor::Extent all = times(node.shape[0], node.shape[1]);
  const std::string count = arguments.number(all), M = arguments.number(node.shape[1]), K = arguments.number(table.shape[rows ? 0 : 1]);
  const Epilogue after = epilogue(region, dag, {"row", "column"}, 4, arguments);
  const std::string type = index_type(*std::max_element(all.values.begin(), all.values.end()) * 2);
  file.kernel("gather.cuh", {{"name", name}, {"parameters", arguments.parameters()}, {"items", items}, {"type", type == "int" ? "int" : "size_t"},
                        {"count", count}, {"M", M}, {"which", which}, {"named", rows ? "row" : "column"},
                        {"K", K}, {"value", compute_type(node.dtype)},
                        {"loaded", converted(compute_type(node.dtype), fmt::format("{}[size_t({}) * {} + {}]", x, rows ? "from" : "row", rows ? M : K, rows ? "column" : "from"))},
                        {"zero", converted(compute_type(node.dtype), "0")}, {"epilogue", after.statements}, {"store", after.store}});
  file.launch(fmt::format("{}<<<ceil_div({}, 256 * {}), 256>>>({})", name, in_parentheses(all.text), items, arguments.passed()));
  const double elements = static_cast<double>(all.values[0]), element = static_cast<double>(tensor::size_of(node.dtype));
  file.traffic(2 * element * elements + 8.0 * static_cast<double>(node.shape[rows ? 0 : 1].values[0]), 0);
  file.technique(Technique::coalesced_access, fmt::format("`{}` reads each named {} where it lies; neighbouring threads write neighbours.", name, rows ? "row" : "column"));
}

}  // namespace cudal1::families
