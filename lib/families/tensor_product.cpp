// SPDX-License-Identifier: Apache-2.0
#include "families/arguments.hpp"
#include "families/epilogue.hpp"
#include "families/factors.hpp"
#include "families/families.hpp"
#include "families/tensor_tiles.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

// Into how many parts the depth is cut so that few tiles still fill a large GPU; 1: there are enough of them.
std::int64_t depth_parts(const Factors& factors) {
  const std::int64_t tiles = (factors.n.values[0] + 127) / 128 * ((factors.m.values[0] + 127) / 128);
  const std::int64_t depth = factors.depth.values[0];
  // Smaller tiles do as well where the depth is moderate.
  if (!is_one(factors.batches) || tiles > 128 || (tiles == 128 && depth < 2048)) return 1;
  std::int64_t parts = 1;
  while (parts * 2 * tiles <= 256 && parts * 2 * 256 <= depth) parts *= 2;
  return parts;
}

}  // namespace

// Bound by the tensor cores: tiles of the factors stream through shared memory in several stages. Few tiles of a deep
// product are summed in parts, in a fixed order.
void write_tensor_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Factors factors = factors_of(region, dag, buffers);
  const Factor &left = factors.left, &right = factors.right;
  const tensor::Extent &n = factors.n, &m = factors.m, &batches = factors.batches;
  const tensor::Shape& shape = region.space;
  const std::size_t rank = shape.size();
  const std::int64_t parts = file.style().split && !left.triangle && !right.triangle ? depth_parts(factors) : 1;
  const std::string name = file.unique("tensor_matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.style().wide;
  const std::vector<std::int64_t> tiles =
      large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128};
  const std::string rows = file.tune("TILE_N", tiles), columns = file.tune("TILE_M", tiles);
  std::vector<std::int64_t> cuts{parts};
  if (parts > 2) cuts.push_back(std::max<std::int64_t>(2, parts / 4));
  const std::string splits = parts > 1 ? file.tune("PARTS", cuts) : "1";

  Arguments arguments(file.scalars());
  const std::string a = arguments.pointer(left.buffer, tensor::Dtype::float32, false);
  const std::string b = arguments.pointer(right.buffer, tensor::Dtype::float32, false);
  Arguments total(file.scalars());
  std::string scratch, sums;
  if (parts > 1) {
    scratch = file.unique("S");
    tensor::Extent count = literal(parts, region.assignments);
    count.text = splits;
    file.scratch(scratch, "float32", {count, n, m});
    sums = arguments.pointer(scratch, tensor::Dtype::float32, true);
    total.pointer(scratch, tensor::Dtype::float32, false);
  }
  Arguments& last = parts > 1 ? total : arguments;
  declare_epilogue(region, dag, last);
  const std::string N = arguments.number(n), M = arguments.number(m), K = arguments.number(factors.depth);
  std::vector<std::string> at;
  const std::string batch_coordinates =
      coordinates(tensor::Shape(shape.begin(), shape.end() - 2), "blockIdx.z", at, arguments);
  at.resize(region.space.size());
  at[rank - 2] = "row";
  at[rank - 1] = "column";
  const Epilogue after = epilogue(region, dag, at, parts > 1 ? 2 : 8, last);

  const std::string step = "32", stages = fmt::format("({} + {} > 192 ? 3 : 4)", rows, columns);
  const std::string left_along = left.swapped ? "false" : "true", right_along = right.swapped ? "true" : "false";
  const std::string depth_range = parts > 1
                                      ? fmt::format(
                                            "  const int share = (({0} + {1} - 1) / {1} + {2} - 1) / {2} * {2};\n"
                                            "  const int begin = blockIdx.z * share, end = min({0}, begin + share);\n",
                                            K, splits, step)
                                  : left.triangle || right.triangle ? ""
                                                                    : fmt::format("  const int begin = 0, end = {};\n", K);
  const std::string store =
      parts > 1
          ? fmt::format("        {}[(size_t(blockIdx.z) * {} + row) * {} + column] = sum[i][j][q];\n", sums, N, M)
          : fmt::format("        const float produced = sum[i][j][q];\n{}        {}\n", after.statements, after.store);
  const std::string left_at = left.at_batch(a, arguments), right_at = right.at_batch(b, arguments);
  const std::string whole = factors.whole(arguments);
  file.code(fmt::format(
      R"(__global__ void __launch_bounds__(128, 2) {name}({parameters}) {{
  const float* left = {left};
  const float* right = {right};
{coordinates}{range}  // Eight rows of tiles are walked together, so that the blocks at work share tiles of both factors in the L2.
  const int across = ({M} + {columns} - 1) / {columns}, down = ({N} + {rows} - 1) / {rows};
  const int first = blockIdx.x / (8 * across) * 8, high = min(down - first, 8), within = blockIdx.x % (8 * across);
  const int row_start = (first + within % high) * {rows}, column_start = within / high * {columns};
{needed}  float sum[{rows} / 32][{columns} / 16][4] = {{}};
  if ({whole})
    tensor_tile<true, {left_along}, {right_along}, {rows}, {columns}, {step}, {stages}>(sum, left, right, row_start, column_start, {N}, {M}, {K}, begin, end);
  else
    tensor_tile<false, {left_along}, {right_along}, {rows}, {columns}, {step}, {stages}>(sum, left, right, row_start, column_start, {N}, {M}, {K}, begin, end);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < {rows} / 32; ++i)
#pragma unroll
    for (int j = 0; j < {columns} / 16; ++j)
#pragma unroll
      for (int q = 0; q < 4; ++q) {{
        const int row = row_start + warp / 2 * ({rows} / 2) + i * 16 + lane / 4 + q / 2 * 8;
        const int column = column_start + warp % 2 * ({columns} / 2) + j * 8 + lane % 4 * 2 + q % 2;
        if (row >= {N} || column >= {M}) continue;
{store}      }}
}}
)",
      fmt::arg("name", name), fmt::arg("left", left_at), fmt::arg("right", right_at),
      fmt::arg("coordinates", batch_coordinates), fmt::arg("range", depth_range), fmt::arg("needed", factors.needed_depths(K, rows, columns, step)), fmt::arg("M", M), fmt::arg("N", N),
      fmt::arg("K", K), fmt::arg("rows", rows), fmt::arg("columns", columns), fmt::arg("whole", whole),
      fmt::arg("left_along", left_along), fmt::arg("right_along", right_along), fmt::arg("step", step),
      fmt::arg("stages", stages), fmt::arg("store", store), fmt::arg("parameters", arguments.parameters())));
  const auto floats = [&](bool along, const std::string& tile) {
    return along ? fmt::format("{} * ({} + 4)", tile, step) : fmt::format("{} * ({} + 8)", step, tile);
  };
  const std::string third = parts > 1 ? ", " + splits : is_one(batches) ? "" : ", " + batches.text;
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), 128, {} * ({} + {}) * 4>>>({})", name,
                          m.text, columns, n.text, rows, third.empty() ? "" : ", 1" + third, stages,
                          floats(!left.swapped, rows), floats(right.swapped, columns), arguments.passed()));
  file.traffic(factors.bytes(), (file.style().exact ? 0.8 : 0.3) * factors.operations(parts));
  if (parts > 1) {
    const std::string kernel = file.unique(name + "_total");
    const std::string rows_of = total.number(n), columns_of = total.number(m);
    file.code(fmt::format(R"(__global__ void __launch_bounds__(256) {0}({1}) {{
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= {2} * {3}) return;
  const int row = at / {3}, column = at % {3};
  float produced = 0;
#pragma unroll 8
  for (int part = 0; part < {4}; ++part) produced += {5}[size_t(part) * {2} * {3} + at];
{6}  {7}
}}
)",
                          kernel, total.parameters(), rows_of, columns_of, splits,
                          total.pointer(scratch, tensor::Dtype::float32, false), after.statements, after.store));
    file.launch(fmt::format("{}<<<ceil_div({} * {}, 256), 256>>>({})", kernel, n.text, m.text, total.passed()));
    file.traffic(4.0 * static_cast<double>((parts + 1) * n.values[0] * m.values[0]), 0);
    file.technique(Technique::split_reduction,
                   fmt::format("Few tiles of a deep product: `{}` sums its depth in {} parts, `{}` adds them "
                               "up in a fixed order.",
                               name, splits, kernel));
  }
  use_tensor_cores(file, name, "the factors");
  file.helper(tensor_tiles);
  file.technique(Technique::shared_memory_tiling, fmt::format("Four warps share a tile of {} by {} results.", rows, columns));
  file.technique(Technique::asynchronous_copy,
                 "The next tiles are on their way to shared memory while the present ones are multiplied.");
  if (region.instances.size() > 1)
    file.technique(Technique::fusion, "What follows the product happens while its results are in registers.");
  if (left.triangle || right.triangle) file.technique(Technique::work_skipping, "Depths at which a triangular factor is zero are left out.");
  file.end_family();
}

}  // namespace cudal1::families
