// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/product_tiles.hpp"
#include "families/warpgroup_factors.hpp"

#include <fmt/format.h>

namespace cudal1::families {

namespace {

// Tiles of 128 rows by as many columns, a choice of them.
struct Tiling {
  std::vector<std::int64_t> columns;
  std::int64_t parts = 1;  // of the depth
};

// Fewer columns, then parts of the depth, where tiles would leave multiprocessors idle.
Tiling tiling_of(const GemmOperands& factors, int halves, const KernelFile& file) {
  const std::int64_t multiprocessors = file.machine().multiprocessors, n = factors.n.values[0], m = factors.m.values[0], batches = factors.batches.values[0];
  const auto tiles = [&](std::int64_t columns) { return batches * ceil_div(n, 128) * ceil_div(m, columns); };
  Tiling result;
  for (const std::int64_t columns : {256, 128, 64})
    if (columns * halves <= 256 && (columns == 64 || (columns <= m && 2 * tiles(columns) > multiprocessors))) result.columns.push_back(columns);
  if (result.columns.size() > 2) result.columns.resize(2);
  const bool divisible = file.variant().splits() && batches == 1 && !factors.left.triangle && !factors.right.triangle;
  while (divisible && result.parts * 2 * tiles(result.columns[0]) <= multiprocessors && result.parts * 2 * 256 <= factors.depth.values[0]) result.parts *= 2;
  return result;
}

// Which tile of which batch or part a block works on, and which depths. A few rows of tiles are walked together, so that the blocks at
// work share tiles of both factors in the L2.
std::string locate(const std::string& N, const std::string& M, const std::string& depths, const std::string& layer) {
  std::string result = fmt::format(
      "      const int across = ({} + COLUMNS - 1) / COLUMNS, down = ({} + ROWS - 1) / ROWS, together = max(1, COLUMNS / 16);\n"
      "{}"
      "      const int first = inner / (together * across) * together, high = min(down - first, together), within = inner % (together * across);\n"
      "      const int row_start = (first + within % high) * ROWS, column_start = within / high * COLUMNS;\n",
      M, N, layer.empty() ? "      const int inner = tile;\n" : fmt::format("      const int {} = tile / (across * down), inner = tile % (across * down);\n", layer));
  return result + depths;
}

// Declarations of `begin` and `end` of the part of the depth that `part` names.
std::string part_depths(const std::string& K, const std::string& part, const std::string& parts) {
  return fmt::format("  const int share = (({0} + 63) / 64 + {2} - 1) / {2} * 64;\n  const int begin = {1} * share, end = min({0}, begin + share);\n", K, part, parts);
}

// Time relative to that of as many float32 operations: whole tiles, and whole rounds of them.
double effort(const GemmOperands& factors, const Tiling& tiling, int halves, int multiprocessors) {
  const std::int64_t rows = ceil_div(factors.n.values[0], 128), columns = ceil_div(factors.m.values[0], tiling.columns[0]);
  const std::int64_t tiles = rows * columns * factors.batches.values[0] * tiling.parts, rounds = ceil_div(tiles, multiprocessors);
  const double needed = factors.left.triangle && factors.right.triangle ? 1.0 / 3 : factors.left.triangle || factors.right.triangle ? 0.5 : 1;
  return costs::warpgroup_product(halves > 1) * needed * 2.0 * 128 * static_cast<double>(tiling.columns[0] * rounds * multiprocessors) *
         static_cast<double>(factors.depth.values[0]) / static_cast<double>(tiling.parts);
}

class WarpgroupProduct {
 public:
  WarpgroupProduct(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file)
      : region_(region),
        dag_(dag),
        file_(file),
        factors_(gemm_operands_of(region, dag, buffers)),
        halves_(factors_.half() || !is_exact(dag.at(region.producer), file) ? 1 : 2),
        tiling_(tiling_of(factors_, halves_, file)),
        name_(file.unique("warpgroup_matmul")),
        columns_(file.tune("TILE_M", tiling_.columns)),
        left_(warpgroup_factor(factors_, true, halves_, file)),
        right_(warpgroup_factor(factors_, false, halves_, file)) {
    if (split()) scratch_ = file.new_scratch("S", "float32", {literal(tiling_.parts, region.assignments), factors_.n, factors_.m});
  }

  void write() {
    Arguments total(file_.scalars());
    Epilogue after;
    if (split()) {
      total.pointer(scratch_, tensor::Dtype::float32, false);
      declare_epilogue(region_, dag_, total);
      std::vector<std::string> at;
      matrix_coordinates(region_, "", at, total);  // of one matrix
      after = epilogue(region_, dag_, at, 2, total);
    }
    write_products();
    if (scaled()) write_fall_back();
    if (split()) write_split_total({name_, scratch_, std::to_string(tiling_.parts), tiling_.parts, factors_.n, factors_.m}, after, total, file_);
    say_techniques();
  }

 private:
  bool split() const { return tiling_.parts > 1; }
  bool scaled() const { return !left_.back.empty(); }
  bool skips() const { return factors_.left.triangle || factors_.right.triangle; }
  std::string layers() const { return split() ? std::to_string(tiling_.parts) : in_parentheses(factors_.batches.text); }

  static std::string back_of(const WarpgroupFactor& factor, const std::string& line, const std::string& lines, const std::string& batch, Arguments& arguments) {
    const std::string back = arguments.pointer(factor.back, tensor::Dtype::float32, false);
    return factor.batched ? fmt::format("{}[size_t({}) * {} + {}]", back, batch, lines, line) : fmt::format("{}[{}]", back, line);
  }

  void write_products() {
    Arguments arguments(file_.scalars());
    std::vector<std::string> left_maps, right_maps;
    for (std::size_t i = 0; i < left_.buffers.size(); ++i) left_maps.push_back(arguments.tensor_map(i == 0 ? "left_map" : "left_low_map", left_.map(i, "128")));
    for (std::size_t i = 0; i < right_.buffers.size(); ++i) right_maps.push_back(arguments.tensor_map(i == 0 ? "right_map" : "right_low_map", right_.map(i, columns_)));
    const std::string sums = split() ? arguments.pointer(scratch_, tensor::Dtype::float32, true) : "";
    if (!split()) declare_epilogue(region_, dag_, arguments);
    const std::string N = arguments.number(factors_.n), M = arguments.number(factors_.m), K = arguments.number(factors_.depth);
    const std::string count = split() ? layers() : arguments.number(factors_.batches);
    std::vector<std::string> at;
    const std::string batch = matrix_coordinates(region_, "batch", at, arguments);
    std::string value = "held", store;
    if (scaled()) {  // one after the other: each takes the next parameter
      const std::string right_back = back_of(right_, "column", M, "batch", arguments), left_back = back_of(left_, "row", N, "batch", arguments);
      value = fmt::format("held * fminf({0}, {1}) * fmaxf({0}, {1})", left_back, right_back);
    }
    if (split()) {
      store = fmt::format("          {}[(size_t(part) * {} + row) * {} + column] = {};\n", sums, N, M, value);
    } else {
      const Epilogue after = epilogue(region_, dag_, at, 10, arguments);
      store = fmt::format("          const float produced = {};\n{}          {}\n", value, after.statements, after.store);
    }
    const std::string depths = split() ? part_depths(K, "part", layers()) : skips() ? factors_.needed_depths(K, "128", "COLUMNS", "64") : fmt::format("  const int begin = 0, end = {};\n", K);
    file_.kernel("warpgroup_product.cuh", {{"name", name_}, {"parameters", arguments.parameters()}, {"rows", 128}, {"columns", columns_}, {"halves", halves_}, {"step", 64},
        {"ring_bytes", warpgroup_ring_bytes}, {"tiles", fmt::format("({} + COLUMNS - 1) / COLUMNS * (({} + 127) / 128) * {}", M, N, count)},
        {"locate", locate(N, M, depths, split() ? "part" : is_one(factors_.batches) ? "" : "batch")}, {"coordinates", batch},
        {"loads", left_.loads(left_maps, "left", "row_start", "128", "LEFT") + right_.loads(right_maps, "right", "column_start", "COLUMNS", "RIGHT")},
        {"multiply", fmt::format("multiply_{}<{:d}, {:d}>", left_.dtype == tensor::Dtype::bfloat16 ? "bf16" : "f16", !left_.along, !right_.along)},
        {"left_part", left_.descriptor("left")}, {"right_part", right_.descriptor("right")}, {"N", N}, {"M", M}, {"store", store}});
    file_.launch(fmt::format("{}<<<min({}, ceil_div({}, {}) * ceil_div({}, 128) * {}), 384, {}>>>({})", name_, file_.machine().multiprocessors, factors_.m.text, columns_,
                             factors_.n.text, layers(), warpgroup_block_bytes, arguments.passed()));
    file_.traffic(factors_.bytes(), effort(factors_, tiling_, halves_, file_.machine().multiprocessors));
  }

  std::string held_line(const std::string& N, const std::string& M, Arguments& arguments) const {
    const std::string right_back = back_of(right_, "line", M, "blockIdx.z", arguments), left_back = back_of(left_, "line", N, "blockIdx.z", arguments);
    return fmt::format("threadIdx.x < 128 ? line >= {} || {} > 0 : line >= {} || {} > 0", N, left_back, M, right_back);
  }

  // Tiles with a line that halves cannot hold once more, in float32; blocks of all others leave at once.
  void write_fall_back() {
    Arguments arguments(file_.scalars());
    arguments.pointer(factors_.left.buffer, tensor::Dtype::float32, false);
    arguments.pointer(factors_.right.buffer, tensor::Dtype::float32, false);
    const std::string sums = split() ? arguments.pointer(scratch_, tensor::Dtype::float32, true) : "";
    if (!split()) declare_epilogue(region_, dag_, arguments);
    const std::string N = arguments.number(factors_.n), M = arguments.number(factors_.m), K = arguments.number(factors_.depth);
    ProductTiles tiles{file_.unique(name_ + "_float32"), "128", "128", "16"};
    std::vector<std::string> at;
    tiles.coordinates = matrix_coordinates(region_, "blockIdx.z", at, arguments);
    tiles.guard = fmt::format(
        "  // NaN undoes no scale: of these lines there are no halves.\n"
        "  const int line = threadIdx.x % 128 + (threadIdx.x < 128 ? row_start : column_start);\n"
        "  const bool held = {};\n"
        "  if (!__syncthreads_or(!held)) return;\n",
        held_line(N, M, arguments));
    if (split()) tiles.needed = part_depths(K, "blockIdx.z", layers());
    else if (skips()) tiles.needed = factors_.needed_depths(K, "128", "128", "16");
    if (split()) tiles.after.store = fmt::format("{}[(size_t(blockIdx.z) * {} + row) * {} + column] = produced;", sums, N, M);
    else tiles.after = epilogue(region_, dag_, at, 6, arguments);
    code_product(tiles, factors_, arguments, file_);
    file_.launch(fmt::format("{}<<<dim3(ceil_div({}, 128), ceil_div({}, 128), {}), 256>>>({})", tiles.name, factors_.m.text, factors_.n.text, layers(), arguments.passed()));
    file_.traffic(0, 0);
  }

  void say_techniques() {
    file_.technique(Technique::tensor_cores,
                    !scaled()      ? fmt::format("Two warpgroups of `{}` multiply factors of 16 bits from shared memory (wgmma).", name_)
                    : halves_ == 1 ? fmt::format("Each line of the factors is scaled by a power of two and rounded to halves, which have TF32's precision; two warpgroups of `{}` multiply "
                                                 "them from shared memory (wgmma). Lines whose range is too large for halves are multiplied in float32.",
                                                 name_)
                                   : fmt::format("Each line of the factors is scaled by a power of two and split into two halves; three products of them in two warpgroups of `{}` (wgmma) are "
                                                 "as exact as one in fp32. Lines whose range is too large for halves are multiplied in float32.",
                                                 name_));
    file_.technique(Technique::shared_memory_tiling, fmt::format("Two warpgroups share a tile of 128 by {} results.", columns_));
    file_.technique(Technique::asynchronous_copy, "A warp of its own keeps a ring of tiles in shared memory full, by tensor copies.");
    if (skips()) file_.technique(Technique::work_skipping, "Depths at which a triangular factor is zero are left out.");
  }

  const Region& region_;
  const Dag& dag_;
  KernelFile& file_;
  GemmOperands factors_;
  int halves_;
  Tiling tiling_;
  std::string name_, columns_, scratch_;
  WarpgroupFactor left_, right_;
};

}  // namespace

void write_warpgroup_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) { WarpgroupProduct(region, dag, buffers, file).write(); }

}  // namespace cudal1::families
