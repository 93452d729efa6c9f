// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/terms.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"

#include <map>

namespace cudal1::families {

namespace {

// What a scan reads, spelt out: lines of `x`, each a pointer to where its part of a tensor in memory begins.
struct Reads {
  std::string lines;                                // their declarations
  std::map<std::size_t, std::string> elements;      // of instances: the element `along`
  std::map<std::size_t, std::string> packs, items;  // of those whose neighbours lie side by side: four of them, and one
  std::vector<std::string> strides;                 // between the starts of those
  double bytes = 0;
};

Reads reads_of(const Region& operand, const Dag& dag, std::size_t dim, std::vector<std::string> at, const std::string& where,
               Arguments& arguments) {
  Reads reads;
  at[dim].clear();
  for (std::size_t i = 0; i < operand.instances.size(); ++i) {
    const Instance& instance = operand.instances[i];
    if (!instance.leaf || instance.buffer.empty()) continue;
    const tensor::Dtype dtype = dag.at(instance.node).dtype;
    const std::string start = address(instance.strides, instance.offset, at, arguments), type(tensor::cuda_name(dtype));
    reads.lines += fmt::format("  const {}* x{} = {}{};\n", type, i, arguments.pointer(instance.buffer, dtype, false),
                               start == "0" ? "" : " + " + start);
    double bytes = static_cast<double>(tensor::size_of(dtype));
    for (std::size_t d = 0; d < instance.strides.size(); ++d)
      if (!is_zero(instance.strides[d])) bytes *= static_cast<double>(operand.space[d].values[0]);
    reads.bytes += bytes;
    const tensor::Extent& stride = instance.strides[dim];
    reads.elements[i] = is_zero(stride)  ? fmt::format("x{}[0]", i)
                        : is_one(stride) ? fmt::format("x{}[along]", i)
                                         : fmt::format("x{}[size_t(along) * {}]", i, arguments.number(stride));
    reads.items[i] = reads.elements[i];
    if (!is_one(stride)) continue;
    reads.packs[i] = fmt::format("      const Pack<{}, 4> pack{} = load<true, 4>(x{} + {}, left);\n", type, i, i, where);
    reads.items[i] = fmt::format("pack{}.at[item]", i);
    if (!instance.offset.values.empty()) reads.strides.push_back(arguments.number(instance.offset));
    for (std::size_t d = 0; d < instance.strides.size(); ++d)
      if (d != dim && !is_zero(instance.strides[d])) reads.strides.push_back(arguments.number(instance.strides[d]));
  }
  return reads;
}

// Four results in one access, where rows are aligned.
std::string pack_stores(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t dim, const std::string& where, bool reverse,
                        const std::string& type, Arguments& arguments) {
  const Region::Root& root = region.roots[0];
  const Spelling value = spelling(region, dag, at, 8, arguments);
  const tensor::Dtype dtype = dag.at(region.instances[static_cast<std::size_t>(root.instance)].node).dtype;
  std::vector<std::string> start = at;
  start[dim] = "along";
  return fmt::format(
               "    if (WHOLE) {{\n      if (left <= 0) continue;\n      Pack<{0}, 4> out;\n#pragma unroll\n      for (int i = 0; i < 4; ++i) {{\n"
               "        const int item = {1}, along = {2} + item;\n        const {7} produced = value[i];\n{3}"
               "        out.at[item] = {4};\n      }}\n      const int along = {2};\n      store<true, 4>({5} + {6}, out, left);\n"
               "      continue;\n    }}\n",
               tensor::cuda_name(dtype), reverse ? "3 - i" : "i", where, value.statements,
               stored(dtype, value.value),
               arguments.pointer(root.buffer, dtype, true), address(root.strides, root.offset, start, arguments), type);
}

void account(const Region& operand, const Node& node, const Reads& reads, const std::string& name, bool rows, double lines, KernelFile& file) {
  const double blocks = lines / (rows ? 1 : 256);
  const double enough = costs::blocks_per_multiprocessor * file.machine().multiprocessors;
  file.traffic(reads.bytes + static_cast<double>(tensor::size_of(node.dtype)) * volume(node.shape), 0, std::clamp(blocks / enough, 1 / enough, 1.0));
  file.technique(
      Technique::parallel_scan,
      rows ? fmt::format("A block of `{}` scans a row in pieces: four elements per thread, warps by shuffles, the "
                         "carry in order.",
                         name)
           : fmt::format("Every thread of `{}` scans a line beside its neighbours, so that all accesses are coalesced.",
                         name));
  if (operand.instances.size() > 1)
    file.technique(Technique::fusion, fmt::format("`{}` computes what it scans when it loads it.", name));
}

}  // namespace

// Bound by memory: one pass, in which what is scanned is computed too. Along the last dimension a block takes a row; along
// another one a thread takes a column, beside its neighbours.
void write_scan(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const std::string type = compute_type(node.dtype);
  const Scan& scan = node.as<Scan>();
  const auto dim = static_cast<std::size_t>(scan.dim);
  const bool reverse = scan.reverse;
  const tensor::Extent inner = product_of(node.shape, dim + 1, node.shape.size(), region.assignments),
                       outer = product_of(node.shape, 0, dim, region.assignments);
  const bool rows = is_one(inner), sum = scan.function == "sum";
  const std::string name = file.unique("scan");
  const std::string threads = file.tune("THREADS", rows ? std::vector<std::int64_t>{256, 512, 128, 1024} : std::vector<std::int64_t>{128, 64, 256});
  Arguments arguments(file.scalars());
  const Region operand = *grow(dag, {{node.operands[0], ""}}, buffers, true, -1, region.workloads).region;
  declare_inputs(operand, dag, arguments);
  declare_epilogue(region, dag, arguments);
  const std::string M = arguments.number(node.shape[dim]);
  std::vector<std::string> at, behind;
  std::string before = coordinates({node.shape.begin(), node.shape.begin() + scan.dim}, rows ? "blockIdx.x" : "front", at, arguments);
  before += coordinates({node.shape.begin() + scan.dim + 1, node.shape.end()}, "back", behind, arguments, dim + 1);
  at.push_back("along");
  at.insert(at.end(), behind.begin(), behind.end());
  const std::string where = reverse ? M + " - 4 - from" : "from", element = reverse ? M + " - 1 - from - i" : "from + i";
  const Reads reads = reads_of(operand, dag, dim, at, where, arguments);
  const Spelling from_elements = spelling(operand, dag, at, rows ? 8 : 6, arguments, reads.elements);
  const Epilogue after = epilogue(region, dag, at, rows ? 6 : 4, arguments);
  std::vector<cuda_code::Hole> holes = {{"name", name}, {"type", type}, {"threads", threads}, {"coordinates", before}, {"lines", reads.lines}, {"M", M},
                                        {"neutral", sum ? "0" : "1"}, {"op", sum ? "+" : "*"}};
  const auto set = [&](const char* hole, const std::string& text) { holes.emplace_back(hole, text); };
  if (rows) {
    std::string stores = fmt::format(
        "#pragma unroll\n    for (int i = 0; i < 4; ++i) {{\n      if (i >= left) break;\n      const int along = {};\n"
        "      const {} produced = value[i];\n{}      {}\n    }}\n",
        element, type, after.statements, after.store);
    std::string packs;
    cuda_code::Conditions aligned;
    const auto require = [&](const std::string& number) { aligned.require(number + " % 4 == 0"); };
    require(M);
    for (const std::string& stride : reads.strides) require(stride);
    for (const auto& [instance, load] : reads.packs) packs += load;
    if (const Region::Root& root = region.roots[0]; root.strides == strides_of(node.shape, region.assignments)) {
      if (!root.offset.values.empty()) require(arguments.number(root.offset));
      stores = pack_stores(region, dag, at, dim, where, reverse, type, arguments) + stores;
    }
    const Spelling from_packs = spelling(operand, dag, at, 8, arguments, reads.items);
    set("where", where), set("item", reverse ? "3 - i" : "i"), set("aligned", aligned.text()), set("packs", packs), set("element", element), set("stores", stores);
    set("from_packs", from_packs.statements + fmt::format("        value[i] = {};\n", from_packs.value));
    set("from_elements", from_elements.statements + fmt::format("        value[i] = {};\n", from_elements.value));
    set("forwarded", arguments.forwarded());
  } else {
    set("count", arguments.number(times(outer, inner))), set("inner", arguments.number(inner));
    set("from_elements", from_elements.statements), set("value", from_elements.value), set("along", reverse ? M + " - 1 - k" : "k");
    set("epilogue", after.statements), set("store", after.store);
  }
  set("parameters", arguments.parameters());
  file.kernel(rows ? "scan_rows.cuh" : "scan_columns.cuh", holes);
  file.launch(rows ? fmt::format("{}<<<{}, {}>>>({})", name, outer.text, threads, arguments.passed())
                   : fmt::format("{}<<<ceil_div({}, {}), {}>>>({})", name, times(outer, inner).text, threads, threads, arguments.passed()));
  account(operand, node, reads, name, rows, static_cast<double>(outer.values[0]) * static_cast<double>(inner.values[0]), file);
}

}  // namespace cudal1::families
