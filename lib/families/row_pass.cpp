// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

// Costly values that a later pass needs again.
void RowWriter::mark_kept(int phase, const std::vector<int>& wanted) {
  kept_here_.clear();
  std::set<int> now;
  for (int id : wanted) passes_.reach(id, phase, now);
  for (int id : now) {
    if (at(id).leaf || !passes_.keepable(id) || passes_.first.count(id) != 0) continue;
    bool later = false;
    for (int other = phase + 1; other <= (trails() && phase < 2 ? 1 : passes_.last()) && !later; ++other) {
      std::set<int> then;
      for (int target : passes_.targets(other)) passes_.reach(target, phase, then);
      later = then.count(id) != 0;
    }
    if (!later) continue;
    kept_here_.push_back(id);
    kept_later_.insert(id);
    passes_.first[id] = phase;
  }
}

void RowWriter::pass(int phase) {
  if (!meets_once() || phase != 1) line_values(phase);
  const std::vector<int> wanted = passes_.targets(phase);
  for (std::size_t i = 0; i < region_.instances.size(); ++i) {
    const int id = static_cast<int>(i);
    if (!passes_.reducing(phase, id)) continue;
    if (finds_index(node(id)))
      line(fmt::format("{} acc{} = {{{}, {}}};  // where all are as low, its first counts", accumulator_type(id), id,
                       neutral(node(id)), converted(index_, lane_ + (walk_ == Walk::columns ? "" : " * VEC"))));
    else if (beside()) {
      line(fmt::format("Pack<{}, VEC> acc{};", accumulator_type(id), id));
      each_line(fmt::format("acc{}.at[i] = {};", id, neutral(node(id))));
    } else line(fmt::format("{} acc{} = {};", accumulator_type(id), id, neutral(node(id))));
  }
  if (phase == passes_.last() && splits_ == 1) {
    for (std::size_t r = 0; r < region_.roots.size(); ++r) {
      const Region::Root& root = region_.roots[r];
      if (layout_.varies_in_row(root.strides))
        line(fmt::format("{}* out{}_line = {}{};", tensor::cuda_name(node(root.instance).dtype), r,
                         arguments_.pointer(root.buffer, node(root.instance).dtype, true), offset(root.strides, root.offset).behind()));
    }
  }
  if (!wanted.empty()) {
    if (walk_ == Walk::columns) walk_columns(phase, wanted);
    else if (walk_ == Walk::pointwise || geometry_.cached) walk_items(phase, wanted);
    else walk_stream(phase, wanted);
  }
  reduce(phase);
}

void RowWriter::walk_items(int phase, const std::vector<int>& wanted) {
  std::set<int> leaves;
  for (int id : wanted) passes_.collect(id, phase, true, leaves);
  const std::string items = walk_ == Walk::pointwise && !geometry_.rows_per_block ? items_ : "ITEMS";
  // The registers of blocks that stay are full: what only the last pass reads is loaded there.
  if (persistent() && phase > 0 && phase == passes_.last())
    for (int id : std::set<int>(leaves))
      if (early_.count(id) == 0) passing_.insert(id), leaves.erase(id);
  for (int id : leaves) {
    line(fmt::format("Pack<{}, VEC> {}_kept[{}];", tensor::cuda_name(node(id).dtype),
                     names_[static_cast<std::size_t>(id)], items));
    passes_.first[id] = phase;
  }
  if (!leaves.empty()) {
    const bool arrives = phase == 0 && !prefetched_.empty();
    if (arrives) line(R"(if (WHOLE) asm volatile("cp.async.wait_group 0;" ::: "memory");)");
    each_item(items, [&] {
      for (int id : leaves) {
        const std::string kept = names_[static_cast<std::size_t>(id)] + "_kept[item]";
        const auto which = std::find(prefetched_.begin(), prefetched_.end(), id);
        if (arrives && which != prefetched_.end()) {
          line(fmt::format("if (WHOLE) {} = *reinterpret_cast<const Pack<{}, VEC>*>({});", kept, tensor::cuda_name(node(id).dtype),
                           prefetched_at(static_cast<std::size_t>(which - prefetched_.begin()))));
          line("else");
        }
        load(id, kept, "column");
      }
    });
    if (arrives) line(fmt::format("if (WHOLE && line + gridDim.x < {}) fetch(line + gridDim.x);", lines_));
  }
  mark_kept(phase, wanted);
  for (int id : kept_here_) line(fmt::format("Pack<{}, VEC> k{}[{}];", compute_type(node(id).dtype), id, items));
  each_item(items, [&] {
    load_packs(passing_);
    pack_loop(phase, {true, "column", "column + i", {}});
  });
  if (walk_ != Walk::rows || !longer_lines_possible()) return;
  if (team_.empty())
    return walk_rest(phase, wanted, fmt::format("(ITEMS * {} + {}(threadIdx.x)) * VEC", threads_, conversion(index_)));
  walk_rest(phase, wanted, fmt::format("((ITEMS * {} + rank) * {} + {}(threadIdx.x)) * VEC", team_, threads_, conversion(index_)),
            fmt::format("{} * {} * VEC", team_, threads_));
}

void RowWriter::walk_rest(int phase, const std::vector<int>& wanted, const std::string& from, const std::string& step) {
  std::set<int> leaves;
  for (int id : wanted) passes_.collect(id, phase, false, leaves);
  scope(fmt::format("for ({0} column = {1}; column < {2}; column += {3}) {{", index_, from, columns_, step.empty() ? fmt::format("{} * VEC", threads_) : step), [&] {
    load_packs(leaves);
    pack_loop(phase, {false, "column", "column + i", {}});
  });
}

void RowWriter::load_packs(const std::set<int>& leaves) {
  for (int id : leaves) {  // zero: behind a row's end nothing is loaded, though values are computed from it and dropped
    line(fmt::format("Pack<{}, VEC> {}_pack = {{}};", tensor::cuda_name(node(id).dtype),
                     names_[static_cast<std::size_t>(id)]));
    load(id, names_[static_cast<std::size_t>(id)] + "_pack", "column");
  }
}

void RowWriter::walk_stream(int phase, const std::vector<int>& wanted) {
  line("#pragma unroll 4");
  if (splits_ > 1)
    walk_rest(phase, wanted, fmt::format("({0}(blockIdx.y) * {1} + {0}(threadIdx.x)) * VEC", conversion(index_), threads_),
              fmt::format("{}(gridDim.y) * {} * VEC", conversion(index_), threads_));
  else walk_rest(phase, wanted, fmt::format("{}(threadIdx.x) * VEC", conversion(index_)));
}
}  // namespace cudal1::families
