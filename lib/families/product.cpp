// SPDX-License-Identifier: Apache-2.0
#include "families/epilogue.hpp"
#include "families/gemm_operands.hpp"
#include "families/families.hpp"
#include "families/product_tiles.hpp"

#include <fmt/format.h>

namespace cudal1::families {

void code_product(const ProductTiles& tiles, const GemmOperands& factors, Arguments& arguments, const Region& region, const Dag& dag, KernelFile& file) {
  const GemmOperand &left = factors.left, &right = factors.right;
  const std::string a = arguments.pointer(left.buffer, left.dtype, false), b = arguments.pointer(right.buffer, right.dtype, false);
  const std::string N = arguments.number(factors.n), M = arguments.number(factors.m), K = arguments.number(factors.depth);
  const std::string left_at = left.at_batch(a, arguments, tiles.batch), right_at = right.at_batch(b, arguments, tiles.batch), whole = factors.whole(arguments);
  // `lines` of fetch_tile is the leading dimension where neighbours lie across the depth.
  file.helper("fetch_tile.cuh");
  if (factors.half()) {
    file.helper("pack.cuh");
    file.helper("fetch_half_tile.cuh");
    for (const Instance& instance : region.instances) file.include(dag.at(instance.node).dtype);
    file.include(left.dtype);
  }
  const bool all = tiles.needed.empty();
  file.kernel("product.cuh",
                        {{"name", tiles.name}, {"element", tensor::cuda_name(left.dtype)}, {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()},
                         {"rows", tiles.rows}, {"columns", tiles.columns}, {"step", tiles.step}, {"left", left_at}, {"right", right_at}, {"guard", tiles.guard},
                         {"coordinates", tiles.coordinates}, {"column_block", tiles.column_block}, {"N", N}, {"M", M}, {"K", K}, {"left_along", left.swapped ? "false" : "true"},
                         {"right_along", right.swapped ? "true" : "false"}, {"whole", whole}, {"needed", tiles.needed}, {"begin", all ? "0" : "begin"},
                         {"end", all ? K : "end"}, {"epilogue", tiles.after.statements}, {"store", tiles.after.store}});
}

// Bound by arithmetic: 16x16 threads own a tile of the result in registers; tiles of the factors pass through two
// buffers in shared memory, so that loading the next overlaps with the use of this one. Products are exact fp32 FMA.
void write_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const GemmOperands factors = gemm_operands_of(region, dag, buffers);
  const tensor::Extent &n = factors.n, &m = factors.m, &batches = factors.batches;
  const std::string name = file.unique("matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.variant().wide;
  const std::vector<std::int64_t> sides = large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128};
  const std::string rows = file.tune("TILE_N", sides), columns = file.tune("TILE_M", sides);
  const std::string step = file.tune("STEP", {16});
  Arguments arguments(file.scalars());
  arguments.pointer(factors.left.buffer, factors.left.dtype, false);
  arguments.pointer(factors.right.buffer, factors.right.dtype, false);
  declare_epilogue(region, dag, arguments);
  arguments.number(n);
  arguments.number(m);
  const std::string K = arguments.number(factors.depth);

  std::vector<std::string> at;
  // A grid is widest along x.
  const bool many = factors.many_batches();
  const std::string batch_coordinates = matrix_coordinates(region, many ? "blockIdx.x" : "blockIdx.z", at, arguments);
  ProductTiles tiles{name, rows, columns, step};
  tiles.needed = factors.needed_depths(K, rows, columns, step);
  tiles.coordinates = batch_coordinates;
  tiles.after = epilogue(region, dag, at, 6, arguments);
  if (many) tiles.column_block = "blockIdx.z", tiles.batch = "blockIdx.x";
  code_product(tiles, factors, arguments, region, dag, file);
  const std::string across = fmt::format("ceil_div({}, {})", m.text, columns), down = fmt::format("ceil_div({}, {})", n.text, rows);
  const std::string grid = many ? fmt::format("{}, {}, {}", batches.text, down, across) : fmt::format("{}, {}{}", across, down, is_one(batches) ? "" : ", " + batches.text);
  file.launch(fmt::format("{}<<<dim3({}), 256>>>({})", name, grid, arguments.passed()));
  file.traffic(factors.bytes(), factors.operations(file.machine()));
  file.technique(Technique::shared_memory_tiling, fmt::format("`{}` keeps a tile of the result in the registers of 256 threads; each element "
                                       "loaded is used {} or {} times.",
                                       name, rows, columns));
  file.technique(Technique::double_buffering,
                 "The next tiles are fetched into registers while the present ones are multiplied.");
  if (!tiles.needed.empty()) file.technique(Technique::work_skipping, "Depths at which a triangular factor is zero are left out.");
}

}  // namespace cudal1::families
