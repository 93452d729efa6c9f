// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <fmt/format.h>

namespace cudal1::families {

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
