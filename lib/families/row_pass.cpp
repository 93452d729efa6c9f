// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <algorithm>

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
  for (int id = 0; id < region_.count(); ++id) {
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
  const bool columns = walk_ == Walk::columns;
  const auto packed = [&](int id) { return !columns || (beside() && layout_.varies_beside(at(id).strides)); };
  const auto type_of = [](std::string_view type, bool pack) { return pack ? fmt::format("Pack<{}, VEC>", type) : std::string(type); };
  for (int id : leaves) {
    line(fmt::format("{} {}_kept[{}];", type_of(tensor::cuda_name(node(id).dtype), packed(id)), names_[id], items));
    passes_.first[id] = phase;
  }
  if (!leaves.empty()) {
    const bool arrives = phase == 0 && !prefetched_.empty();
    if (arrives) line(R"(if (WHOLE) asm volatile("cp.async.wait_group 0;" ::: "memory");)");
    each_item(items, [&] {
      for (int id : leaves) {
        const std::string kept = names_[id] + "_kept[item]";
        const auto which = std::find(prefetched_.begin(), prefetched_.end(), id);
        if (arrives && which != prefetched_.end()) {
          line(fmt::format("if (WHOLE) {} = *reinterpret_cast<const Pack<{}, VEC>*>({});", kept, tensor::cuda_name(node(id).dtype),
                           prefetched_at(static_cast<std::size_t>(which - prefetched_.begin()))));
          line("else");
        }
        if (columns) load_of_column(id, kept, packed(id));
        else load(id, kept, "column");
      }
    });
    if (arrives) line(fmt::format("if (WHOLE && line + gridDim.x < {}) fetch(line + gridDim.x);", lines_));
  }
  mark_kept(phase, wanted);
  for (int id : kept_here_) line(fmt::format("{} k{}[{}];", type_of(compute_type(node(id).dtype), !columns || beside()), id, items));
  each_item(items, [&] {
    if (columns) return elements(phase, true);
    load_packs(passing_);
    pack_loop(phase, {true, "column", "column + i", {}});
  });
  if (walk_ != Walk::rows || !longer_lines_possible()) return;
  if (team_.empty())
    return walk_rest(phase, wanted, fmt::format("(ITEMS * {} + {}(threadIdx.x)) * VEC", threads_, conversion(index_)));
  walk_rest(phase, wanted, fmt::format("((ITEMS * {} + rank) * {} + {}(threadIdx.x)) * VEC", team_, threads_, conversion(index_)),
            fmt::format("{} * {} * VEC", team_, threads_));
}

// Lanes stand side by side on the rows.
void RowWriter::load_of_column(int id, const std::string& to, bool pack) {
  const std::string& name = names_[id];
  const std::string where = fmt::format("column < {} ? {} : 0", columns_, element_offset(at(id).strides, "column"));
  line(pack ? fmt::format("{} = *reinterpret_cast<const Pack<{}, VEC>*>({}_line + ({}));", to, tensor::cuda_name(node(id).dtype), name, where)
            : fmt::format("{} = {}_line[{}];", to, name, where));
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
    line(fmt::format("Pack<{}, VEC> {}_pack = {{}};", tensor::cuda_name(node(id).dtype), names_[id]));
    load(id, names_[id] + "_pack", "column");
  }
}

void RowWriter::walk_stream(int phase, const std::vector<int>& wanted) {
  line("#pragma unroll 4");
  if (splits_ > 1)
    walk_rest(phase, wanted, fmt::format("({0}(blockIdx.y) * {1} + {0}(threadIdx.x)) * VEC", conversion(index_), threads_),
              fmt::format("{}(gridDim.y) * {} * VEC", conversion(index_), threads_));
  else walk_rest(phase, wanted, fmt::format("{}(threadIdx.x) * VEC", conversion(index_)));
}

void RowWriter::each_line(const std::string& text) {
  line("#pragma unroll");
  line(fmt::format("for (int i = 0; i < VEC; ++i) {}", text));
}

// One element of a row, or of every row that a thread has.
void RowWriter::elements(int phase, bool cached) {
  const Spot spot{cached, "column", "column", {}};
  if (beside()) pack_loop(phase, spot);
  else element(phase, spot);
}

void RowWriter::walk_columns(int phase, const std::vector<int>& wanted) {
  if (geometry_.cached) {
    walk_items(phase, wanted);
    if (!longer_lines_possible()) return;
    return scope(fmt::format("for ({0} column = ITEMS * {1} + {3}(threadIdx.y); column < {2}; column += {1}) {{", index_, threads_, columns_, conversion(index_)),
                 [&] { elements(phase, false); });
  }
  line(fmt::format("#pragma unroll {}", file_.variant().wide ? 16 : 4));  // accesses on their way
  scope(splits_ > 1 ? fmt::format("for ({0} column = {3}(blockIdx.y) * {1} + {3}(threadIdx.y); column < {2}; column += {3}(gridDim.y) * {1}) {{", index_, threads_,
                                  columns_, conversion(index_))
                    : fmt::format("for ({0} column = threadIdx.y; column < {2}; column += {1}) {{", index_, threads_, columns_),
        [&] { element(phase, {false, "column", "column", {}}); });
}

}  // namespace cudal1::families
