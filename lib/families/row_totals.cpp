// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"
#include "families/values.hpp"

#include <fmt/format.h>

namespace cudal1::families {

tensor::Extent RowWriter::totals_blocks() const {
  return {totals_blocks_, std::vector<std::int64_t>(region_.assignments, geometry_.totals_blocks.front())};
}

// What a thread has seen of its row, and the loop over them: as often for all rows of a block, for its barriers.
void RowWriter::begin_totals() {
  for (std::size_t root = 0; root < totals_.size(); ++root)
    line(fmt::format("{} total{} = {};", compute_type(total(root).dtype), root, neutral(total(root))));
  line(fmt::format("for ({0} base = {3}(blockIdx.x) * ROWS; base < {1}; base += {2} * ROWS) {{", line_index_, lines_, totals_blocks_, conversion(line_index_)));
  indent_ += 2;
}

void RowWriter::finish_totals() {
  const auto value = [&](std::size_t root) { return names_[static_cast<std::size_t>(region_.roots[root].instance)]; };
  line("if (live) {");
  for (std::size_t root = 0; root < totals_.size(); ++root)
    line(fmt::format("  total{0} = {1}(total{0}, {2});", root, combine(total(root)), converted(compute_type(total(root).dtype), value(root))));
  line("}");
  indent_ -= 2;
  line("}");
  for (std::size_t root = 0; root < totals_.size(); ++root) {
    const std::string type = compute_type(total(root).dtype), part = fmt::format("part{}", root);
    line(fmt::format("const {} {} = reduce_rows<ROWS>(total{}, {});", type, part, root, combine(total(root))));
    line(fmt::format("if (threadIdx.x == 0 && threadIdx.y == 0) {}[blockIdx.x] = {};",
                     arguments_.pointer(region_.roots[root].buffer, total(root).dtype, true), stored(total(root).dtype, part)));
  }
  file_.technique(Technique::split_reduction,
                  fmt::format("Every block of `{}` walks many rows and adds up what it finds for them; a second kernel adds a part per "
                              "block in a fixed order, without atomics.",
                              name_));
}

tensor::Extent write_total_kernel(const Region& region, const Dag& dag, const std::vector<int>& reduces, KernelFile& file) {
  RowWriter writer(region, dag, Walk::rows, file, 1, reduces);
  writer.write();
  file.end_family();
  return writer.totals_blocks();
}

}  // namespace cudal1::families
