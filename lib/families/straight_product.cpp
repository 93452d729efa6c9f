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

constexpr std::int64_t step = 32;  // of the depth

class StraightProduct {
 public:
  StraightProduct(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file)
      : region_(region),
        dag_(dag),
        file_(file),
        factors_(gemm_operands_of(region, dag, buffers)),
        exact_(file.variant().exact()),
        rows_(rows_of(factors_, exact_)),
        widths_(widths_of(factors_, exact_ || rows_ > 128, file.machine())),
        name_(file.unique("straight_matmul")),
        columns_(file.tune("TILE_M", widths_)),
        pitch_(round_up(factors_.depth, step)) {}

  void write() {
    write_left();
    write_products();
    say_techniques();
  }

 private:
  // As many rows as registers hold sums for, where there are so many.
  static std::int64_t rows_of(const GemmOperands& factors, bool exact) {
    const std::int64_t n = factors.n.values[0];
    return n <= 64 ? 64 : n <= 128 || exact ? 128 : 256;
  }
  // Wider tiles load the left factor less often; of narrower ones the last round has fewer idle blocks.
  static std::vector<std::int64_t> widths_of(const GemmOperands& factors, bool narrow, const schedule::Machine& machine) {
    if (narrow) return {128};
    const auto rounds = [&](std::int64_t width) {
      return width * ceil_div(ceil_div(factors.m.values[0], width) * factors.batches.values[0], machine.multiprocessors);
    };
    return rounds(128) < rounds(256) ? std::vector<std::int64_t>{128, 256} : std::vector<std::int64_t>{256, 128};
  }

  void write_left() {
    left_ = file_.new_scratches(exact_ ? 2 : 1, {"H", "L"}, "float32", {factors_.n, pitch_});
    Arguments arguments(file_.scalars());
    const std::string x = arguments.pointer(factors_.left.buffer, tensor::Dtype::float32, false), high = arguments.pointer(left_[0], tensor::Dtype::float32, true);
    const std::string low = exact_ ? arguments.pointer(left_[1], tensor::Dtype::float32, true) : "", name = file_.unique("straight_left");
    const std::string depth = arguments.number(factors_.depth), pitch = arguments.number(pitch_);
    file_.kernel("straight_left.cuh", {{"name", name}, {"parameters", arguments.parameters()}, {"X", x}, {"depth", depth}, {"pitch", pitch},
        {"halves", exact_ ? fmt::format("    {0}[to] = rounded_to_tf32(x);\n    {1}[to] = rounded_to_tf32(x - {0}[to]);\n", high, low) : fmt::format("    {}[to] = rounded_to_tf32(x);\n", high)}});
    file_.launch(fmt::format("{}<<<{}, 128>>>({})", name, factors_.n.text, arguments.passed()));
    file_.preparation(0);
  }

  void write_products() {
    Arguments arguments(file_.scalars());
    std::vector<std::string> maps;
    for (const std::string& buffer : left_)
      maps.push_back(arguments.tensor_map(maps.empty() ? "left_map" : "left_low_map",
                                          fmt::format("tensor_map({}, axes({}, {}), strides({}), box(32, {}), swizzle(128))", buffer, pitch_.text, factors_.n.text, pitch_.text, rows_)));
    const std::string from = arguments.pointer(factors_.right.buffer, tensor::Dtype::float32, false);
    declare_epilogue(region_, dag_, arguments);
    const std::string N = arguments.number(factors_.n), M = arguments.number(factors_.m), K = arguments.number(factors_.depth), batches = arguments.number(factors_.batches);
    std::vector<std::string> at;
    const std::string batch = matrix_coordinates(region_, "batch", at, arguments);
    const Epilogue after = epilogue(region_, dag_, at, 10, arguments);
    const std::string right_batch = is_zero(factors_.right.stride) ? "" : fmt::format(" + size_t(batch) * {}", arguments.number(factors_.right.stride));
    file_.kernel("straight_product.cuh", {{"name", name_}, {"parameters", arguments.parameters()}, {"rows", rows_}, {"columns", columns_}, {"halves", exact_ ? 2 : 1},
        {"ring_bytes", warpgroup_ring_bytes}, {"batches", batches}, {"coordinates", batch}, {"B", right_batch}, {"from", from}, {"left_map", maps[0]},
        {"left_low_map", maps.back()}, {"N", N}, {"M", M}, {"K", K},
        {"store", fmt::format("          const float produced = held;\n{}          {}\n", after.statements, after.store)}});
    file_.launch(fmt::format("{}<<<min({}, ceil_div({}, {}) * ceil_div({}, {}) * {}), 384, {}>>>({})", name_, file_.machine().multiprocessors, factors_.m.text, columns_,
                             factors_.n.text, rows_, in_parentheses(factors_.batches.text), warpgroup_block_bytes, arguments.passed()));
    const double tiles = static_cast<double>(ceil_div(factors_.n.values[0], rows_)) * static_cast<double>(ceil_div(factors_.m.values[0], widths_[0]) * factors_.batches.values[0]);
    file_.traffic(factors_.bytes(), costs::straight_product(exact_) * 2.0 * static_cast<double>(rows_ * widths_[0] * factors_.depth.values[0]) * tiles);
  }

  void say_techniques() {
    file_.technique(Technique::tensor_cores,
                    exact_ ? fmt::format("Each factor is what TF32 holds of it and what that leaves over; three products of them in two warpgroups of `{}` (wgmma) are as exact as one in fp32.", name_)
                           : fmt::format("Factors are rounded to TF32; two warpgroups of `{}` multiply them (wgmma).", name_));
    file_.technique(Technique::shared_memory_tiling, fmt::format("A tile of {} by {} results; its right factor goes from shared memory through registers, as it lies in memory.", rows_, columns_));
    file_.technique(Technique::asynchronous_copy, "A warpgroup of its own keeps a ring of tiles in shared memory full.");
  }

  const Region& region_;
  const Dag& dag_;
  KernelFile& file_;
  GemmOperands factors_;
  bool exact_;
  std::int64_t rows_;
  std::vector<std::int64_t> widths_;
  std::string name_, columns_;
  tensor::Extent pitch_;
  std::vector<std::string> left_;
};

}  // namespace

// Cutting a factor into halves moves it three times; a product from where it lies takes twice as long on the tensor cores. So few
// rows of the left factor make the second one faster.
bool suits_straight_product(const GemmOperands& factors, bool exact, const schedule::Machine& machine) {
  constexpr std::int64_t fewest_rows = 32, fewest_columns = 128;
  const std::int64_t n = factors.n.values[0], m = factors.m.values[0];
  if (2 * ceil_div(n, 128) * ceil_div(m, 128) * factors.batches.values[0] < machine.multiprocessors) return false;
  return machine.warpgroup_products && !factors.half() && !factors.left.swapped && !factors.right.swapped && is_zero(factors.left.stride) && !factors.left.triangle &&
         !factors.right.triangle && n >= fewest_rows && n <= (exact ? 256 : 512) && m >= fewest_columns && factors.depth.values[0] >= step;
}

void write_straight_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) { StraightProduct(region, dag, buffers, file).write(); }

}  // namespace cudal1::families
