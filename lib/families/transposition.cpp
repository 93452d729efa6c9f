// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/terms.hpp"
#include "families/arguments.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/values.hpp"

#include <map>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

bool in_memory(const Instance& instance) { return instance.leaf && !instance.buffer.empty(); }

// Types whose packs of four are one access.
bool packs_in_16_bytes(tensor::Dtype dtype) { return dtype == tensor::Dtype::float32 || dtype == tensor::Dtype::int32; }

// The iteration dimension along which a transposed operand has its neighbours; -1: none, or not one for all.
int source_dim(const Region& region) {
  int found = -1;
  const std::size_t last = region.space.size() - 1;
  for (const Instance& instance : region.instances) {
    if (!in_memory(instance)) continue;
    if (!instance.offset.values.empty()) return -1;
    if (is_one(instance.strides[last]) || is_zero(instance.strides[last])) continue;
    int dim = -1;
    for (std::size_t i = 0; i < last; ++i)
      if (is_one(instance.strides[i])) dim = static_cast<int>(i);
    if (dim < 0 || (found >= 0 && found != dim)) return -1;
    found = dim;
  }
  return found;
}

}  // namespace

bool is_transposition(const Region& region) {
  if (region.reduces || region.space.size() < 2 || !region.roots[0].offset.values.empty() || source_dim(region) < 0)
    return false;
  const std::size_t last = region.space.size() - 1;
  const auto source = static_cast<std::size_t>(source_dim(region));
  return is_one(region.roots[0].strides[last]) && region.space[source].values[0] >= 16 &&
         region.space[last].values[0] >= 16;
}

// Bound by memory: reads along one dimension, writes along another, and turns a tile around in shared memory between.
void write_transposition(const Region& region, const Dag& dag, KernelFile& file) {
  const auto node = [&](const Instance& instance) -> const Node& { return dag.at(instance.node); };
  const std::size_t last = region.space.size() - 1;
  const auto source = static_cast<std::size_t>(source_dim(region));
  const std::string name = file.unique("transposition");
  Arguments arguments(file.scalars());
  for (const Instance& instance : region.instances)
    if (in_memory(instance)) arguments.pointer(instance.buffer, node(instance).dtype, false);
  const Region::Root& root = region.roots[0];
  const Node& result = node(region.instances[static_cast<std::size_t>(root.instance)]);
  const std::string out = arguments.pointer(root.buffer, result.dtype, true);
  const std::string columns = arguments.number(region.space[last]), rows = arguments.number(region.space[source]);
  bool packed = !file.variant().simple && packs_in_16_bytes(result.dtype);
  for (const Instance& instance : region.instances)
    if (in_memory(instance) && !is_one(instance.strides[last]) && !is_zero(instance.strides[last]))
      packed = packed && packs_in_16_bytes(node(instance).dtype);
  // Larger tiles move longer runs, as long as there are enough of them for every multiprocessor.
  const double elements =
      static_cast<double>(region.rows().values[0]) * static_cast<double>(region.columns().values[0]);
  const int tile = (elements >= 64 * 64 * 4 * file.machine().multiprocessors) != file.variant().wide ? 64 : 32;
  const std::string threads = packed ? file.tune("THREADS", {256, 128}) : file.tune("THREADS", {256, 512, 128});

  std::string body = fmt::format("  constexpr int TILE = {};\n", tile);
  cuda_code::Conditions whole;
  whole.require(rows + " % 4 == 0");
  whole.require(columns + " % 4 == 0");
  const auto aligned = [&](const tensor::Shape& strides) {
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (!is_zero(strides[i]) && !is_one(strides[i])) whole.require(arguments.number(strides[i]) + " % 4 == 0");
  };
  std::vector<std::size_t> batch;
  for (std::size_t i = 0; i < last; ++i)
    if (i != source) batch.push_back(i);
  // Tiles of one batch are numbered along x, the batches along y and z.
  body += fmt::format("  const int across = ({} + TILE - 1) / TILE;\n", columns);
  body += "  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;\n";
  tensor::Extent batches = literal(1, region.assignments);
  std::string rest = "blockIdx.y";
  std::vector<std::string> at(region.space.size());
  for (std::size_t k = batch.size(); k-- > 0;) {
    batches = times(region.space[batch[k]], batches);
    const std::string extent = arguments.number(region.space[batch[k]]);
    at[batch[k]] = fmt::format("at{}", batch[k]);
    body += fmt::format("  const int at{} = {};\n", batch[k], k == 0 ? rest : fmt::format("{} % {}", rest, extent));
    if (k > 0) rest = fmt::format("{} / {}", rest, extent);
  }
  const auto address = [&](const tensor::Shape& strides, const std::string& row, const std::string& column) {
    std::vector<std::string> where = at;
    where[last] = column;
    where[source] = row;
    return families::address(strides, {}, where, arguments);
  };
  std::string loads;
  std::map<std::size_t, std::string> turned;  // instances, read from their tiles
  for (std::size_t i = 0; i < region.instances.size(); ++i) {
    const Instance& instance = region.instances[i];
    if (!in_memory(instance) || is_one(instance.strides[last]) || is_zero(instance.strides[last])) continue;
    const std::string pointer = arguments.pointer(instance.buffer, node(instance).dtype, false), type(tensor::cuda_name(node(instance).dtype)),
                      at_element = address(instance.strides, "row", "column");
    if (packed) {
      aligned(instance.strides);
      body += fmt::format("  __shared__ __align__(16) {} tile{}[TILE * TILE];\n", type, i);
      loads += fmt::format(R"(    {{
      __align__(16) {0} held[4][4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {{
        const int row = row_start + i, column = column_start + j + q;
        const {0}* from = {1} + {2};
        if (whole && row < {3} && column < {4}) {{
          *reinterpret_cast<{0}4*>(held[q]) = *reinterpret_cast<const {0}4*>(from);
        }} else {{
#pragma unroll
          for (int r = 0; r < 4; ++r) held[q][r] = row + r < {3} && column < {4} ? from[r] : 0;
        }}
      }}
#pragma unroll
      for (int r = 0; r < 4; ++r)
        *reinterpret_cast<{0}4*>(&tile{5}[(i + r) * TILE + (j / 4 ^ i / 4) * 4]) = make_{0}4(held[0][r], held[1][r], held[2][r], held[3][r]);
    }}
)",
                           type, pointer, at_element, rows, columns, i);
      turned[i] = fmt::format("tile{}[i * TILE + (j / 4 ^ i / 4) * 4 + q]", i);
    } else {
      body += fmt::format("  __shared__ {} tile{}[TILE][TILE + 1];\n", type, i);
      loads += fmt::format("        tile{0}[j][i] = {1}[{2}];\n", i, pointer, at_element);
      turned[i] = fmt::format("tile{}[j][i]", i);
    }
  }
  if (turned.empty()) throw NotCovered{"a transposition without a transposed operand"};
  at[last] = "column";
  at[source] = "row";
  const auto [uses, value] = spelling(region, dag, at, packed ? 8 : 6, arguments, turned);
  const std::string type(tensor::cuda_name(result.dtype)), to_memory = stored(result.dtype, value);
  if (packed) {
    aligned(root.strides);
    body += fmt::format(R"(  const bool whole = {whole};
#pragma unroll
  for (int patch = threadIdx.x; patch < TILE * TILE / 16; patch += {threads}) {{
    const int i = patch % (TILE / 4) * 4, j = patch / (TILE / 4) * 4;
{loads}  }}
  __syncthreads();
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * TILE / 4; pack += {threads}) {{
    const int i = pack / (TILE / 4), j = pack % (TILE / 4) * 4, row = row_start + i;
    if (row >= {rows}) continue;
    __align__(16) {type} results[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {{
      const int column = column_start + j + q;
      if (column < {columns}) {{
{uses}        results[q] = {value};
      }}
    }}
    const int column = column_start + j;
    {type}* to = {out} + {address};
    if (whole && column < {columns}) {{
      *reinterpret_cast<{type}4*>(to) = *reinterpret_cast<const {type}4*>(results);
    }} else {{
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (column + q < {columns}) to[q] = results[q];
    }}
  }}
)",
                        fmt::arg("whole", whole.text()), fmt::arg("threads", threads), fmt::arg("loads", loads),
                        fmt::arg("rows", rows), fmt::arg("columns", columns), fmt::arg("type", type),
                        fmt::arg("uses", uses), fmt::arg("value", to_memory), fmt::arg("out", out),
                        fmt::arg("address", address(root.strides, "row", "column")));
  } else {
    body += fmt::format(R"(#pragma unroll
  for (int j = threadIdx.x / 32; j < TILE; j += {0} / 32) {{
#pragma unroll
    for (int i = threadIdx.x % 32; i < TILE; i += 32) {{
      const int row = row_start + i, column = column_start + j;
      if (row < {1} && column < {2}) {{
{3}      }}
    }}
  }}
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.x / 32; i < TILE; i += {0} / 32) {{
#pragma unroll
    for (int j = threadIdx.x % 32; j < TILE; j += 32) {{
      const int row = row_start + i, column = column_start + j;
      if (row >= {1} || column >= {2}) continue;
{4}      {5}[{6}] = {7};
    }}
  }}
)",
                        threads, rows, columns, loads, uses, out, address(root.strides, "row", "column"), to_memory);
  }
  for (const Instance& instance : region.instances) file.include(node(instance).dtype);
  file.code(fmt::format("__global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n", threads, name,
                        arguments.parameters(), body));
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), {}>>>({})", name, region.space[last].text,
                          tile, region.space[source].text, tile, batch.empty() ? "" : ", " + batches.text, threads,
                          arguments.passed()));
  double bytes = 0;
  for (const Instance& instance : region.instances)
    if (in_memory(instance)) bytes += elements * static_cast<double>(tensor::size_of(node(instance).dtype));
  file.traffic(bytes + elements * static_cast<double>(tensor::size_of(result.dtype)), 0);
  file.technique(Technique::shared_memory_tiling, fmt::format("`{}` reads and writes whole cache lines: a tile of {}x{} turns around in "
                                       "shared memory, {} so that no two lanes meet in a bank.",
                                       name, tile, tile, packed ? "its packs shuffled" : "one column wider"));
  if (packed)
    file.technique(
        Technique::vectorised_access,
        "Every access to memory and to the tile moves 16 bytes; a thread turns 4x4 elements around in its registers.");
  file.end_family();
}

}  // namespace cudal1::families
