// SPDX-License-Identifier: Apache-2.0
#include "families/product_tiles.hpp"

#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/gemm_operands.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

void use_tensor_cores(KernelFile& file, const std::string& kernel, const std::string& factors) {
  const bool exact = file.variant().exact();
  file.technique(Technique::tensor_cores,
                 exact ? fmt::format("`{}` cuts {} into a high and a low half of TF32 precision; three products of them are "
                                     "as exact as one in fp32. An infinite input, or one above 4e34, gives NaN.",
                                     kernel, factors)
                       : fmt::format("`{}` multiplies {} in TF32, by the run's precision or because they have 16 bits only.", kernel, factors));
}

void use_half_tensor_cores(KernelFile& file, const std::string& kernel, tensor::Dtype dtype) {
  file.include(dtype);
  file.helper("half_tiles.cuh", {{"element", tensor::cuda_name(dtype)}, {"kind", dtype == tensor::Dtype::float16 ? "f16" : "bf16"}});
  file.technique(Technique::tensor_cores, fmt::format("`{}` multiplies factors of 16 bits as they are, and adds the products up in float.", kernel));
}

// A stage of tiles of 128 by 128 takes 36 KiB at most, of 128 by 64 27 KiB, of 64 by 64 18 KiB.
std::string tile_stages(const std::string& rows, const std::string& columns, const schedule::Machine& machine) {
  if (machine.shared_bytes_of_block >= 4 * 36 << 10) return fmt::format("({} + {} > 192 ? 3 : 4)", rows, columns);
  return fmt::format("({0} + {1} > 192 ? 2 : {0} + {1} > 128 ? 3 : 4)", rows, columns);
}

void write_split_total(const SplitProduct& product, const Epilogue& after, Arguments& arguments, KernelFile& file) {
  const std::string kernel = file.unique(product.name + "_total");
  const std::string rows = arguments.number(product.n), columns = arguments.number(product.m);
  file.kernel("split_product_total.cuh",
                                   {{"name", kernel}, {"parameters", arguments.parameters()}, {"N", rows}, {"M", columns}, {"parts", product.count},
                                    {"S", arguments.pointer(product.scratch, tensor::Dtype::float32, false)}, {"epilogue", after.statements}, {"store", after.store}});
  file.launch(fmt::format("{}<<<ceil_div({} * {}, 256), 256>>>({})", kernel, product.n.text, product.m.text, arguments.passed()));
  file.traffic(4.0 * static_cast<double>((product.parts + 1) * product.n.values[0] * product.m.values[0]), 0);
  file.technique(Technique::split_reduction, fmt::format("Few tiles of a deep product: `{}` sums its depth in {} parts, `{}` adds them "
                                                         "up in a fixed order.",
                                                         product.name, product.count, kernel));
}

void code_product(const ProductTiles& tiles, const GemmOperands& factors, Arguments& arguments, KernelFile& file) {
  const GemmOperand &left = factors.left, &right = factors.right;
  const std::string a = arguments.pointer(left.buffer, left.dtype, false), b = arguments.pointer(right.buffer, right.dtype, false);
  const std::string N = arguments.number(factors.n), M = arguments.number(factors.m), K = arguments.number(factors.depth);
  const std::string left_at = left.at_batch(a, arguments, tiles.batch), right_at = right.at_batch(b, arguments, tiles.batch), whole = factors.whole(arguments);
  // `lines` of fetch_tile is the leading dimension where neighbours lie across the depth.
  const bool all = tiles.needed.empty();
  file.kernel("product.cuh",
                        {{"name", tiles.name}, {"parameters", arguments.parameters()}, {"forwarded", arguments.forwarded()},
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
  code_product(tiles, factors, arguments, file);
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

// A way to multiply tiles on the tensor cores. Its device code has a function `tile` that adds products up in `sums`; in shared memory it pads a line of a
// tile by `along` elements where neighbours lie along the depth, and a depth by `across` where they do not. It copies packs of `pack` elements.
struct TileProduct {
  std::string_view tile, sums;
  int along, across, pack, step;
  std::int64_t sides;  // rows and columns of a tile, together: more than this, and the sums find no room in registers
  double cost;         // time of an operation, of that without tensor cores

  // Of one stage in shared memory, padding included.
  std::string elements(bool depth_along, const std::string& lines) const {
    return depth_along ? fmt::format("{} * ({} + {})", lines, step, along) : fmt::format("{} * ({} + {})", step, lines, across);
  }
};

TileProduct tile_product(const GemmOperands& factors, const Variant& variant) {
  if (factors.half()) return {"half_tile", "float", 8, 8, 8, 32, 256, costs::half_product};
  if (factors.doubles()) return {"double_tile", "double", 4, 4, 2, 16, 192, costs::double_product};
  return {"tensor_tile", "float", 4, 8, 4, 32, 256, costs::product(variant.exact())};
}

void tell_techniques(const GemmOperands& factors, const std::string& name, const std::string& rows, const std::string& columns, KernelFile& file) {
  if (factors.half()) {
    use_half_tensor_cores(file, name, factors.left.dtype);
  } else if (factors.doubles()) {
    file.helper("double_tiles.cuh");
    file.technique(Technique::tensor_cores, fmt::format("`{}` multiplies factors in float64 as they are.", name));
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
  const TileProduct way = tile_product(factors, file.variant());
  const std::int64_t parts = file.variant().splits() && !factors.doubles() && !left.triangle && !right.triangle ? depth_parts(factors, file.machine().team_multiprocessors()) : 1;
  const std::string name = file.unique("tensor_matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.variant().wide;
  const std::vector<std::int64_t> tiles = large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128};
  const std::string rows = file.tune("TILE_N", way.sides < 256 ? std::vector<std::int64_t>{64, 128} : tiles);
  const std::string columns = file.tune("TILE_M", tiles, way.sides < 256 ? fmt::format("{} + TILE_M <= {}", rows, way.sides) : "");
  std::vector<std::int64_t> cuts{parts};
  if (parts > 2) cuts.push_back(std::max<std::int64_t>(2, parts / 4));
  const std::string splits = parts > 1 ? file.tune("PARTS", cuts) : "1";

  Arguments arguments(file.scalars());
  const std::string a = arguments.pointer(left.buffer, left.dtype, false);
  const std::string b = arguments.pointer(right.buffer, right.dtype, false);
  Arguments total(file.scalars());
  std::string scratch, sums;
  if (parts > 1) {
    scratch = file.new_scratch("S", "float32", {{splits, {}}, n, m});
    sums = arguments.pointer(scratch, tensor::Dtype::float32, true);
    total.pointer(scratch, tensor::Dtype::float32, false);
  }
  Arguments& last = parts > 1 ? total : arguments;
  declare_epilogue(region, dag, last);
  const std::string N = arguments.number(n), M = arguments.number(m), K = arguments.number(factors.depth);
  std::vector<std::string> at;
  const std::string batch_coordinates = matrix_coordinates(region, "blockIdx.z", at, arguments);
  const Epilogue after = epilogue(region, dag, at, parts > 1 ? 2 : 8, last);

  const std::string step = std::to_string(way.step), stages = tile_stages(rows, columns, file.machine());
  const std::string range = depth_range(factors, K, splits, step, parts);
  const std::string store =
      parts > 1
          ? fmt::format("        {}[(size_t(blockIdx.z) * {} + row) * {} + column] = sum[i][j][q];\n", sums, N, M)
          : fmt::format("        const {} produced = sum[i][j][q];\n{}        {}\n", way.sums, after.statements, after.store);
  const std::string left_at = left.at_batch(a, arguments), right_at = right.at_batch(b, arguments);
  const std::string whole = factors.whole(arguments, way.pack);
  file.kernel("tensor_product.cuh", {{"name", name}, {"element", tensor::cuda_name(left.dtype)}, {"tile", way.tile}, {"sums", way.sums}, {"left", left_at}, {"right", right_at},
      {"coordinates", batch_coordinates}, {"range", range}, {"needed", factors.needed_depths(K, rows, columns, step)}, {"M", M}, {"N", N},
      {"K", K}, {"rows", rows}, {"columns", columns}, {"whole", whole},
      {"left_along", left.swapped ? "false" : "true"}, {"right_along", right.swapped ? "true" : "false"}, {"step", step},
      {"stages", stages}, {"store", store}, {"parameters", arguments.parameters()}});
  const std::string third = parts > 1 ? ", " + splits : is_one(batches) ? "" : ", " + batches.text;
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), 128, {} * ({} + {}) * {}>>>({})", name,
                          m.text, columns, n.text, rows, third.empty() ? "" : ", 1" + third, stages,
                          way.elements(!left.swapped, rows), way.elements(right.swapped, columns), tensor::size_of(left.dtype), arguments.passed()));
  // Rounded to TF32 on an H100, bytes are not hidden behind the sums (tables of convolutions of one element).
  const double waited = tensor::size_of(left.dtype) == 4 && !file.variant().exact() && file.machine().warpgroup_products ? costs::as_operations(costs::tensor_core_bytes * factors.bytes() / costs::memory_rate) : 0;
  file.traffic(factors.bytes(), way.cost * factors.operations(file.machine(), parts) + waited);
  if (parts > 1) write_split_total({name, scratch, splits, parts, n, m}, after, total, file);
  tell_techniques(factors, name, rows, columns, file);
}

}  // namespace cudal1::families
