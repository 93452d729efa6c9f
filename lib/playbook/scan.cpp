// SPDX-License-Identifier: Apache-2.0
#include "playbook/device_functions.hpp"
#include "playbook/epilogue.hpp"
#include "playbook/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

constexpr std::string_view along_rows = R"(template <bool WHOLE>
__device__ __forceinline__ void {name}_body({parameters}) {{
  // A row passes in pieces; every thread scans four neighbours, the warps their totals, and the carry goes on.
  __shared__ float part[{threads} / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
{coordinates}  const float* x = {X} + size_t(blockIdx.x) * {M};
  float carry = {neutral};
  for (int start = 0; start < {M}; start += {threads} * 4) {{
    const int from = start + threadIdx.x * 4, left = {M} - from;
    float value[4];
    if (WHOLE) {{
      const Pack<float, 4> pack = load<true, 4>(x + {where}, left);
#pragma unroll
      for (int i = 0; i < 4; ++i) value[i] = pack.at[{item}];
    }} else {{
#pragma unroll
      for (int i = 0; i < 4; ++i) value[i] = i < left ? x[{element}] : {neutral};
    }}
#pragma unroll
    for (int i = 1; i < 4; ++i) value[i] {op}= value[i - 1];
    float total = value[3];
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {{
      const float before = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total {op}= before;
    }}
    __syncthreads();
    if (lane == 31) part[warp] = total;
    __syncthreads();
    float before = __shfl_up_sync(0xffffffffu, total, 1);
    if (lane == 0) before = {neutral};
    before {op}= carry;
    for (int other = 0; other < {threads} / 32; ++other) {{
      if (other < warp) before {op}= part[other];
      carry {op}= part[other];
    }}
#pragma unroll
    for (int i = 0; i < 4; ++i) value[i] {op}= before;
{stores}  }}
}}

__global__ void __launch_bounds__({threads}) {name}({parameters}) {{
  if ({M} % 4 == 0) {name}_body<true>({forwarded});
  else {name}_body<false>({forwarded});
}}
)";

constexpr std::string_view across_columns = R"(__global__ void __launch_bounds__({threads}) {name}({parameters}) {{
  const int index = blockIdx.x * {threads} + threadIdx.x;
  if (index >= {lines}) return;
  const int front = index / {inner}, back = index % {inner};
  const float* x = {X} + size_t(front) * {M} * {inner} + back;
{coordinates}  float produced = {neutral};
#pragma unroll 8
  for (int k = 0; k < {M}; ++k) {{
    const int along = {along};
    produced {op}= x[size_t(along) * {inner}];
{epilogue}    {store}
  }}
}}
)";

}  // namespace

// Bound by memory: one pass. Along the last dimension a block takes a row; along another one a thread takes a column,
// beside its neighbours.
void write_scan(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(region.producer)];
  if (node.dtype != tensor::Dtype::float32 || dag.nodes[static_cast<std::size_t>(node.operands[0])].dtype != node.dtype)
    throw NotCovered{"scans are covered for float32 only"};
  const auto dim = static_cast<std::size_t>(node.dims[0]);
  const std::size_t rank = node.shape.size();
  const bool reverse = std::get<bool>(node.attributes.at("reverse"));
  const tensor::Extent inner = product_of(node.shape, dim + 1, rank, region.assignments),
                       outer = product_of(node.shape, 0, dim, region.assignments);
  const bool rows = is_one(inner);
  const std::string name = file.unique("scan");
  const std::string threads = file.tune(
      "THREADS", rows ? std::vector<std::int64_t>{256, 512, 128, 1024} : std::vector<std::int64_t>{128, 64, 256});
  Arguments arguments(file.scalars());
  const std::string x = arguments.pointer(buffers.at(node.operands[0]), node.dtype, false);
  declare_epilogue(region, dag, arguments);
  const std::string M = arguments.number(node.shape[dim]);
  const bool sum = node.function == "sum";
  std::vector<std::string> at, behind;
  const tensor::Shape front_shape(node.shape.begin(), node.shape.begin() + node.dims[0]),
      back_shape(node.shape.begin() + node.dims[0] + 1, node.shape.end());
  std::string before = coordinates(front_shape, rows ? "blockIdx.x" : "front", at, arguments);
  std::string text = coordinates(back_shape, "back", behind, arguments);
  for (std::size_t i = back_shape.size(); i-- > 0;) {  // named by their place behind the scanned one
    const std::string from = fmt::format("at{} =", i), to = fmt::format("at{} =", i + dim + 1);
    if (const std::size_t found = text.find(from); found != std::string::npos) text.replace(found, from.size(), to);
    if (!behind[i].empty()) behind[i] = fmt::format("at{}", i + dim + 1);
  }
  before += text;
  at.push_back("along");
  at.insert(at.end(), behind.begin(), behind.end());
  const Epilogue after = epilogue(region, dag, at, rows ? 6 : 4, arguments);
  if (rows) {
    file.helper(device_functions::pack);
    std::string stores = fmt::format(
        "#pragma unroll\n    for (int i = 0; i < 4; ++i) {{\n      if (i >= left) break;\n      const int along = {};\n"
        "      const float produced = value[i];\n{}      {}\n    }}\n",
        reverse ? M + " - 1 - from - i" : "from + i", after.statements, after.store);
    const Region::Root& root = region.roots[0];
    const bool plain = region.instances.size() == 1 && root.strides == strides_of(node.shape, region.assignments) &&
                       root.offset.values.empty();
    if (plain)
      stores = fmt::format(
                   "    if (WHOLE) {{\n      Pack<float, 4> out;\n#pragma unroll\n      for (int i = 0; i < 4; ++i) "
                   "out.at[{}] = value[i];\n"
                   "      store<true, 4>({} + size_t(blockIdx.x) * {} + {}, out, left);\n      continue;\n    }}\n",
                   reverse ? "3 - i" : "i", arguments.pointer(root.buffer, node.dtype, true), M,
                   reverse ? M + " - 4 - from" : "from") +
               stores;
    file.code(fmt::format(
        fmt::runtime(along_rows), fmt::arg("name", name), fmt::arg("parameters", arguments.parameters()),
        fmt::arg("forwarded", arguments.forwarded()), fmt::arg("threads", threads), fmt::arg("coordinates", before),
        fmt::arg("X", x), fmt::arg("M", M), fmt::arg("neutral", sum ? "0" : "1"), fmt::arg("op", sum ? "+" : "*"),
        fmt::arg("where", reverse ? M + " - 4 - from" : "from"), fmt::arg("item", reverse ? "3 - i" : "i"),
        fmt::arg("element", reverse ? M + " - 1 - from - i" : "from + i"), fmt::arg("stores", stores)));
    file.launch(fmt::format("{}<<<{}, {}>>>({})", name, outer.text, threads, arguments.passed()));
  } else {
    const tensor::Extent lines = times(outer, inner);
    const std::string count = arguments.number(lines), step = arguments.number(inner);
    file.code(fmt::format(fmt::runtime(across_columns), fmt::arg("name", name),
                          fmt::arg("parameters", arguments.parameters()), fmt::arg("threads", threads),
                          fmt::arg("lines", count), fmt::arg("inner", step), fmt::arg("X", x), fmt::arg("M", M),
                          fmt::arg("coordinates", before), fmt::arg("neutral", sum ? "0" : "1"),
                          fmt::arg("along", reverse ? M + " - 1 - k" : "k"), fmt::arg("op", sum ? "+" : "*"),
                          fmt::arg("epilogue", after.statements), fmt::arg("store", after.store)));
    file.launch(
        fmt::format("{}<<<ceil_div({}, {}), {}>>>({})", name, lines.text, threads, threads, arguments.passed()));
  }
  double elements = 1;
  for (const tensor::Extent& extent : node.shape) elements *= static_cast<double>(extent.values[0]);
  const double blocks = static_cast<double>(outer.values[0]) * static_cast<double>(inner.values[0]) / (rows ? 1 : 256);
  file.traffic(8 * elements, 0, std::clamp(blocks / 264, 1.0 / 264, 1.0));
  file.technique(
      Technique::parallel_scan,
      rows ? fmt::format("A block of `{}` scans a row in pieces: four elements per thread, warps by shuffles, the "
                         "carry in order.",
                         name)
           : fmt::format("Every thread of `{}` scans a line beside its neighbours, so that all accesses are coalesced.",
                         name));
  if (region.instances.size() > 1)
    file.technique(Technique::fusion, fmt::format("What follows happens in the registers of `{}`.", name));
  file.end_family();
}

}  // namespace cudal1::playbook
