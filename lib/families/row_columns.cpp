// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <fmt/format.h>

namespace cudal1::families {

// When all packs of rows are aligned and in one piece.
std::string RowWriter::aligned_beside() {
  const auto dim = static_cast<std::size_t>(layout_.beside_dim());
  cuda_code::Conditions whole_packs;
  const auto insert = [&](const std::string& number) { whole_packs.require(fmt::format("{} % {} == 0", number, geometry_.beside)); };
  insert(arguments_.number(region_.space[dim]));
  const auto consider = [&](const tensor::Shape& strides, const tensor::Extent& start) {
    if (!layout_.varies_beside(strides)) return;
    if (!start.values.empty()) insert(arguments_.number(start));
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (i != dim && !is_zero(strides[i])) insert(arguments_.number(strides[i]));
  };
  for (const Instance& instance : region_.instances)
    if (instance.leaf && !instance.buffer.empty()) consider(instance.strides, instance.offset);
  for (const Region::Root& root : region_.roots) consider(root.strides, root.offset);
  return whole_packs.text();
}

void RowWriter::each_line(const std::string& text) {
  line("#pragma unroll");
  line(fmt::format("for (int i = 0; i < VEC; ++i) {}", text));
}

// One element of every row that a thread has.
void RowWriter::elements_beside(int phase, const Spot& spot) {
  const bool writes = phase == passes_.last();
  if (writes)
    for (std::size_t r = 0; r < region_.roots.size(); ++r)
      line(fmt::format("Pack<{}, VEC> out{};", tensor::cuda_name(node(region_.roots[r].instance).dtype), r));
  line("#pragma unroll");
  scope("for (int i = 0; i < VEC; ++i) {", [&] { element(phase, spot); });
  if (!writes) return;
  for (std::size_t r = 0; r < region_.roots.size(); ++r)
    line(fmt::format("if (live && {0} < {1}) *reinterpret_cast<decltype(out{2})*>(out{2}_line + {3}) = out{2};", spot.column, columns_, r,
                     in_parentheses(element_offset(region_.roots[r].strides, spot.element))));
}

void RowWriter::elements(int phase, bool cached) {
  const Spot spot{cached, "column", "column", {}};
  if (beside()) elements_beside(phase, spot);
  else element(phase, spot);
}

// Lanes stand side by side on the rows.
void RowWriter::walk_columns_kept(int phase, const std::vector<int>& wanted) {
  std::set<int> leaves;
  for (int id : wanted) passes_.collect(id, phase, true, leaves);
  const auto packed = [&](int id) { return beside() && layout_.varies_beside(at(id).strides); };
  for (int id : leaves) {
    const std::string type(tensor::cuda_name(node(id).dtype));
    line(fmt::format("{} {}_kept[ITEMS];", packed(id) ? fmt::format("Pack<{}, VEC>", type) : type, names_[static_cast<std::size_t>(id)]));
    passes_.first[id] = phase;
  }
  if (!leaves.empty())
    each_item("ITEMS", [&] {
      for (int id : leaves) {
        const std::string where = fmt::format("column < {} ? {} : 0", columns_, element_offset(at(id).strides, "column"));
        const std::string& name = names_[static_cast<std::size_t>(id)];
        if (packed(id))
          line(fmt::format("{0}_kept[item] = *reinterpret_cast<const Pack<{1}, VEC>*>({0}_line + ({2}));", name,
                           tensor::cuda_name(node(id).dtype), where));
        else line(fmt::format("{0}_kept[item] = {0}_line[{1}];", name, where));
      }
    });
  mark_kept(phase, wanted);
  for (int id : kept_here_)
    line(beside() ? fmt::format("Pack<{}, VEC> k{}[ITEMS];", compute_type(node(id).dtype), id)
                  : fmt::format("{} k{}[ITEMS];", compute_type(node(id).dtype), id));
  each_item("ITEMS", [&] { elements(phase, true); });
}

void RowWriter::walk_columns(int phase, const std::vector<int>& wanted) {
  if (geometry_.cached) {
    walk_columns_kept(phase, wanted);
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
