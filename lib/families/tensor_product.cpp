// SPDX-License-Identifier: Apache-2.0
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/gemm_operands.hpp"
#include "families/families.hpp"
#include "families/split_total.hpp"
#include "families/tensor_tiles.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

// Into how many parts the depth is cut so that few tiles still fill the machine; 1: there are enough of them.
std::int64_t depth_parts(const GemmOperands& factors, int multiprocessors) {
  const std::int64_t tiles = (factors.n.values[0] + 127) / 128 * ((factors.m.values[0] + 127) / 128);
  const std::int64_t depth = factors.depth.values[0];
  // Smaller tiles do as well where the depth is moderate.
  if (!is_one(factors.batches) || tiles > multiprocessors || (tiles == multiprocessors && depth < 2048)) return 1;
  std::int64_t parts = 1;
  while (parts * 2 * tiles <= 2 * multiprocessors && parts * 2 * 256 <= depth) parts *= 2;
  return parts;
}

// The depths of one block; of a triangular factor those that are needed are found elsewhere.
std::string depth_range(const GemmOperands& factors, const std::string& K, const std::string& splits, const std::string& step, std::int64_t parts) {
  if (parts > 1)
    return fmt::format("  const int share = (({0} + {1} - 1) / {1} + {2} - 1) / {2} * {2};\n"
                       "  const int begin = blockIdx.z * share, end = min({0}, begin + share);\n",
                       K, splits, step);
  return factors.left.triangle || factors.right.triangle ? "" : fmt::format("  const int begin = 0, end = {};\n", K);
}

// Of one stage in shared memory, padding included.
std::string tile_elements(bool along, const std::string& tile, const std::string& step, bool half) {
  return along ? fmt::format("{} * ({} + {})", tile, step, half ? 8 : 4) : fmt::format("{} * ({} + 8)", step, tile);
}

void tell_techniques(const Region& region, const Dag& dag, const GemmOperands& factors, const std::string& name, const std::string& rows,
                     const std::string& columns, KernelFile& file) {
  if (factors.half()) {
    for (const Instance& instance : region.instances) file.include(dag.at(instance.node).dtype);
    use_half_tensor_cores(file, name, factors.left.dtype);
  } else {
    use_tensor_cores(file, name, "the factors");
    file.helper("tensor_tiles.cuh");
  }
  file.technique(Technique::shared_memory_tiling, fmt::format("Four warps share a tile of {} by {} results.", rows, columns));
  file.technique(Technique::asynchronous_copy,
                 "The next tiles are on their way to shared memory while the present ones are multiplied.");
  if (factors.left.triangle || factors.right.triangle) file.technique(Technique::work_skipping, "Depths at which a triangular factor is zero are left out.");
}

}  // namespace

// Bound by the tensor cores: tiles of the factors stream through shared memory in several stages. Few tiles of a deep
// product are summed in parts, in a fixed order.
void write_tensor_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const GemmOperands factors = gemm_operands_of(region, dag, buffers);
  const GemmOperand &left = factors.left, &right = factors.right;
  const tensor::Extent &n = factors.n, &m = factors.m, &batches = factors.batches;
  const std::int64_t parts = file.variant().splits() && !left.triangle && !right.triangle ? depth_parts(factors, file.machine().team_multiprocessors()) : 1;
  const std::string name = file.unique("tensor_matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.variant().wide;
  const std::vector<std::int64_t> tiles = large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128};
  const std::string rows = file.tune("TILE_N", tiles), columns = file.tune("TILE_M", tiles);
  std::vector<std::int64_t> cuts{parts};
  if (parts > 2) cuts.push_back(std::max<std::int64_t>(2, parts / 4));
  const std::string splits = parts > 1 ? file.tune("PARTS", cuts) : "1";

  Arguments arguments(file.scalars());
  const std::string a = arguments.pointer(left.buffer, left.dtype, false);
  const std::string b = arguments.pointer(right.buffer, right.dtype, false);
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
  const std::string batch_coordinates = matrix_coordinates(region, "blockIdx.z", at, arguments);
  const Epilogue after = epilogue(region, dag, at, parts > 1 ? 2 : 8, last);

  const std::string step = "32", stages = tile_stages(rows, columns, file.machine());
  const std::string range = depth_range(factors, K, splits, step, parts);
  const std::string store =
      parts > 1
          ? fmt::format("        {}[(size_t(blockIdx.z) * {} + row) * {} + column] = sum[i][j][q];\n", sums, N, M)
          : fmt::format("        const float produced = sum[i][j][q];\n{}        {}\n", after.statements, after.store);
  const std::string left_at = left.at_batch(a, arguments), right_at = right.at_batch(b, arguments);
  const bool half = factors.half();
  const std::string whole = factors.whole(arguments, half ? 8 : 4);
  file.kernel("tensor_product.cuh", {{"name", name}, {"element", tensor::cuda_name(left.dtype)}, {"tile", half ? "half_tile" : "tensor_tile"}, {"left", left_at}, {"right", right_at},
      {"coordinates", batch_coordinates}, {"range", range}, {"needed", factors.needed_depths(K, rows, columns, step)}, {"M", M}, {"N", N},
      {"K", K}, {"rows", rows}, {"columns", columns}, {"whole", whole},
      {"left_along", left.swapped ? "false" : "true"}, {"right_along", right.swapped ? "true" : "false"}, {"step", step},
      {"stages", stages}, {"store", store}, {"parameters", arguments.parameters()}});
  const std::string third = parts > 1 ? ", " + splits : is_one(batches) ? "" : ", " + batches.text;
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), 128, {} * ({} + {}) * {}>>>({})", name,
                          m.text, columns, n.text, rows, third.empty() ? "" : ", 1" + third, stages,
                          tile_elements(!left.swapped, rows, step, half), tile_elements(right.swapped, columns, step, half), tensor::size_of(left.dtype), arguments.passed()));
  file.traffic(factors.bytes(), (half ? costs::half_product : costs::product(file.variant().exact())) * factors.operations(file.machine(), parts));
  if (parts > 1) write_split_total({name, scratch, splits, parts, n, m}, after, total, file);
  tell_techniques(region, dag, factors, name, rows, columns, file);
}

}  // namespace cudal1::families
