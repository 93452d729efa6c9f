// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include "families/epilogue.hpp"

namespace cudal1::families {

RowWriter::RowWriter(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits, std::vector<int> totals)
    : region_(region), dag_(dag), walk_(walk), file_(file), splits_(splits), totals_(std::move(totals)), passes_(region, dag, splits),
      geometry_(geometry_of({region, dag, walk, splits, !totals_.empty(), file.variant(), file.machine(), file.tunes()}, passes_)),
      layout_{region, geometry_.vec, geometry_.pieces}, meeting_(geometry_.meeting), arguments_(file.scalars()) {}

void RowWriter::write() {
  declare_geometry();
  prepare();
  for (int phase = 0; phase <= passes_.last(); ++phase) pass(phase);
  finish();
}

void RowWriter::finish() {
  if (!totals_.empty()) finish_totals();
  for (const Region::Root& root : region_.roots) {
    if (!totals_.empty() || (layout_.varies_in_row(root.strides) && splits_ == 1)) continue;
    cuda_code::Sum where = offset(root.strides, root.offset);
    if (splits_ > 1) where.add(fmt::format("size_t(blockIdx.y) * {}", lines_));
    const std::string text = names_[root.instance];
    line(fmt::format(
        "if ({}) {}[{}] = {};",
        walk_ == Walk::pointwise ? "start == 0"
        : !team_.empty()         ? "rank == 0 && threadIdx.x == 0"
        : persistent()             ? "threadIdx.x == 0"
                                 : fmt::format("live && {} == 0", lane_),
        arguments_.pointer(root.buffer, node(root.instance).dtype, true), where.text(),
        stored(node(root.instance).dtype, text)));
  }
  if (trails()) body_ += "    }\n";
  if (persistent()) body_ += "  }\n";
  emit();
}

void RowWriter::emit() {
  const bool reduces = region_.reduces;
  file_.helper("pack.cuh");
  if (once()) file_.helper("pack_once.cuh");
  if (!prefetched_.empty()) file_.helper("copy_ahead.cuh");
  if (reduces) {
    file_.helper("exchange.cuh");
    file_.helper("operations.cuh");
    for (const Instance& instance : region_.instances)
      if (!instance.leaf && finds_index(dag_.at(instance.node)))
        file_.helper("found.cuh");
    if (beside()) file_.helper("each.cuh");
    file_.helper(walk_ == Walk::columns ? "reduce_column.cuh" : "reduce_row.cuh");
    if (!totals_.empty()) file_.helper("reduce_rows.cuh");
    if (meets_once()) {
      file_.helper(meeting_.centre >= 0 ? "moments.cuh" : "powers.cuh");
    } else if (!team_.empty()) {
      file_.helper("reduce_team.cuh");
    }
  }
  for (int id = 0; id < region_.count(); ++id) file_.include(node(id).dtype);
  const std::string block = walk_ == Walk::columns ? fmt::format("{} * {}", lanes(), threads_)
                            : persistent()           ? fmt::format("{}, {}", threads_, per_multiprocessor_)
                            : geometry_.rows_per_block      ? fmt::format("({0} < 256 ? 256 : {0})", threads_)
                                                   : threads_;
  const std::string bounds = fmt::format("__launch_bounds__({})", block);
  if (vectorised()) {
    file_.code(fmt::format("template <bool WHOLE>\n__device__ __forceinline__ void {}_body({}) {{\n{}}}\n", name_,
                           arguments_.parameters(), body_));
    file_.code(fmt::format(
        "__global__ void {} {}({}) {{\n  if ({}) {}_body<true>({});\n  else {}_body<false>({});\n}}\n", bounds, name_,
        arguments_.parameters(), aligned(), name_, arguments_.forwarded(), name_, arguments_.forwarded()));
  } else if (beside()) {
    file_.code(fmt::format("template <int VEC>\n__device__ __forceinline__ void {}_body({}, int part) {{\n{}}}\n", name_, arguments_.parameters(), body_));
    file_.code(fmt::format("__global__ void {0} {1}({2}) {{\n  if ({3}) {1}_body<{4}>({5}, 0);\n  else\n"
                           "    for (int part = 0; part < {4}; ++part) {1}_body<1>({5}, part);\n}}\n",
                           bounds, name_, arguments_.parameters(), aligned(), geometry_.beside, arguments_.forwarded()));
  } else {
    file_.code(fmt::format("__global__ void {} {}({}) {{\n{}}}\n", bounds, name_, arguments_.parameters(), body_));
  }
  launch();
  account();
}

// When all packs of a row, or of rows beside each other, are aligned and in one piece: every stride between their starts is a multiple
// of a pack.
std::string RowWriter::aligned() {
  cuda_code::Conditions whole_packs;
  const std::size_t dim = beside() ? static_cast<std::size_t>(layout_.beside_dim()) : 0;
  const auto insert = [&](const tensor::Extent& extent) {
    whole_packs.require(fmt::format("{} % {} == 0", arguments_.number(extent), beside() ? geometry_.beside : geometry_.vec));
  };
  insert(beside() ? region_.space[dim] : region_.columns());
  const auto consider = [&](const tensor::Shape& strides, const tensor::Extent& start) {
    if (beside() ? !layout_.varies_beside(strides) : strides.empty() || !layout_.in_packs(strides)) return;
    if (!start.values.empty()) insert(start);
    const bool pieces = !beside() && !layout_.unit_stride(strides);
    if (pieces) insert(layout_.piece());
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (!is_zero(strides[i]) && (beside() ? i != dim : !region_.element[i] || (pieces && !is_one(strides[i])))) insert(strides[i]);
  };
  for (const Instance& instance : region_.instances) {
    if (!instance.leaf || instance.buffer.empty()) continue;
    consider(instance.strides, instance.offset);
    if (!region_.element.empty() && region_.element.back() && layout_.same_in_pack(instance.strides)) insert(region_.space.back());
  }
  for (const Region::Root& root : region_.roots) consider(root.strides, root.offset);
  return whole_packs.text();
}

void RowWriter::launch() {
  const std::string lines = region_.rows().text, columns = region_.columns().text;
  std::string grid, block;
  if (walk_ == Walk::columns) {
    grid = fmt::format("ceil_div({}, {})", lines, width_);
    block = fmt::format("dim3({}, {})", lanes(), threads_);
  } else if (persistent()) {
    grid = team_.empty() ? blocks_ : fmt::format("{0} / {1} * {1}", blocks_, team_);
    block = threads_;
    if (!prefetched_.empty())
      block += fmt::format(", ceil_div({0}, {1}) * {1} * {2}", (geometry_.columns + geometry_.vec - 1) / geometry_.vec, threads_, 16 * prefetched_.size());
  } else if (walk_ == Walk::rows) {
    grid = totals_.empty() ? fmt::format("ceil_div({}, max(1, 256 / {}))", lines, threads_) : totals_blocks_;
    block = fmt::format("dim3({0}, max(1, 256 / {0}))", threads_);
  } else {
    const std::string tile = geometry_.vec == 1 ? fmt::format("{} * {}", geometry_.rows_per_block ? "1" : items_, threads_)
                                       : fmt::format("{} * {} * {}", geometry_.rows_per_block ? "1" : items_, threads_, geometry_.vec);
    grid = fmt::format("ceil_div({}, {})", columns, tile);
    if (several_rows())
      grid = fmt::format(
          "{} * {}", geometry_.rows_per_block ? fmt::format("ceil_div({}, 256 / {})", lines, threads_) : in_parentheses(lines),
          grid);
    block = geometry_.rows_per_block ? fmt::format("dim3({0}, 256 / {0})", threads_) : threads_;
  }
  if (splits_ > 1) grid = fmt::format("dim3({}, {})", grid, splits_);
  file_.launch(fmt::format("{}<<<{}, {}>>>({}){}", name_, grid, block, arguments_.passed(),
                           team_.empty() ? "" : " cooperative"));
}
void write_row_kernel(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits) {
  RowWriter(region, dag, walk, file, splits).write();
  file.end_family();
}

// Declares the tunables of the geometry.
void RowWriter::declare_geometry() {
  const auto& g = geometry_;
  name_ = file_.unique(walk_ == Walk::pointwise ? "pointwise"
                       : walk_ == Walk::rows    ? (splits_ > 1 ? "row_parts" : "rows")
                                                : (splits_ > 1 ? "column_parts" : "columns"));
  if (walk_ == Walk::pointwise) items_ = g.rows_per_block ? "1" : file_.tune("ITEMS", g.items);
  if (g.blocks == RowGeometry::Blocks::team) {
    team_ = file_.tune("TEAM", g.team);
    threads_ = file_.tune("THREADS", g.threads, fmt::format("{} <= TEAM * THREADS * {}", g.packs, g.of_thread));
    blocks_ = file_.tune("BLOCKS", g.team_blocks,
                         fmt::format("{4}BLOCKS * {0} <= TEAM * {1} && {3} * BLOCKS * {0} > TEAM * {1} && BLOCKS * THREADS <= {2}", g.packs,
                                     g.capacity, 1024 * g.multiprocessors, g.slack, trails() ? "TEAM <= BLOCKS && " : ""));
    per_multiprocessor_ = fmt::format("{} / {}", blocks_, g.multiprocessors);
  } else {
    threads_ = file_.tune("THREADS", g.threads);
  }
  if (g.blocks == RowGeometry::Blocks::prefetching) {
    per_multiprocessor_ = fmt::format("1024 / {}", threads_);
    blocks_ = fmt::format("{} * ({})", file_.machine().multiprocessors, per_multiprocessor_);
  }
  if (!totals_.empty()) totals_blocks_ = file_.tune("BLOCKS", g.totals_blocks);
  if (walk_ == Walk::columns)
    width_ = !g.cached ? "32" : file_.tune("LINES", g.rows, fmt::format("LINES * {} <= {}", threads_, 1024 * g.beside));
  const std::string step = walk_ == Walk::columns ? threads_ : fmt::format("{}{} * VEC", team_.empty() ? "" : team_ + " * ", threads_);
  if (g.cached) items_ = fmt::format("({} + {} - 1) / ({})", g.columns, step, step);
}

}  // namespace cudal1::families
