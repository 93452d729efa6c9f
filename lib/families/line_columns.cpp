// SPDX-License-Identifier: Apache-2.0
#include "families/line_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

// The dimension along which neighbouring lines are neighbours; -1: there is none.
int LineWriter::beside_dim() const {
  for (std::size_t i = region_.space.size(); i-- > 0;)
    if (!region_.element[i] && !is_one(region_.space[i])) return static_cast<int>(i);
  return -1;
}

// How many neighbouring lines a thread can take at once, in accesses of 16 bytes.
int LineWriter::lines_beside() const {
  const int dim = beside_dim();
  if (dim < 0 || file_.variant().columns != Variant::Columns::packed) return 1;
  std::size_t widest = 1;
  const auto of = [&](const tensor::Shape& strides) { return strides[static_cast<std::size_t>(dim)]; };
  for (std::size_t i = 0; i < region_.instances.size(); ++i) {
    const int id = static_cast<int>(i);
    if ((!at(id).leaf && finds_index(node(id))) || at(id).named >= 0) return 1;
    if (!at(id).leaf || at(id).strides.empty() || is_zero(of(at(id).strides))) continue;
    if (at(id).buffer.empty() || !is_one(of(at(id).strides))) return 1;
    widest = std::max(widest, tensor::size_of(node(id).dtype));
  }
  for (const Region::Root& root : region_.roots) {
    if (!is_one(of(root.strides)) || !varies(root.strides, region_.element, 1)) return 1;
    widest = std::max(widest, tensor::size_of(node(root.instance).dtype));
  }
  int result = static_cast<int>(16 / widest);
  const tensor::Extent& extent = region_.space[static_cast<std::size_t>(dim)];
  for (std::size_t w = 0; w < region_.workloads && w < extent.values.size(); ++w)
    while (result > 1 && extent.values[w] % result != 0) result /= 2;
  return result;
}

bool LineWriter::varies_beside(const tensor::Shape& strides) const {
  return !strides.empty() && !is_zero(strides[static_cast<std::size_t>(beside_dim())]);
}

// When all packs of lines are aligned and in one piece.
std::string LineWriter::aligned_beside() {
  const auto dim = static_cast<std::size_t>(beside_dim());
  std::vector<std::string> numbers{arguments_.number(region_.space[dim])};
  const auto consider = [&](const tensor::Shape& strides, const tensor::Extent& start) {
    if (!varies_beside(strides)) return;
    std::vector<std::string> mine;
    if (!start.values.empty()) mine.push_back(arguments_.number(start));
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (i != dim && !is_zero(strides[i])) mine.push_back(arguments_.number(strides[i]));
    for (const std::string& number : mine)
      if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
  };
  for (const Instance& instance : region_.instances)
    if (instance.leaf && !instance.buffer.empty()) consider(instance.strides, instance.offset);
  for (const Region::Root& root : region_.roots) consider(root.strides, root.offset);
  std::string result;
  for (const std::string& number : numbers) result += fmt::format("{}{} % {} == 0", result.empty() ? "" : " && ", number, beside_);
  return result;
}

void LineWriter::each_line(const std::string& text) {
  line("#pragma unroll");
  line(fmt::format("for (int i = 0; i < VEC; ++i) {}", text));
}

// One element of every line that a thread has.
void LineWriter::elements_beside(int phase, const Spot& spot) {
  const bool writes = phase == last_phase_;
  if (writes)
    for (std::size_t r = 0; r < region_.roots.size(); ++r)
      line(fmt::format("Pack<{}, VEC> out{};", tensor::cuda_name(node(region_.roots[r].instance).dtype), r));
  each_line("{");
  indent_ += 2;
  element(phase, spot);
  indent_ -= 2;
  line("}");
  if (!writes) return;
  for (std::size_t r = 0; r < region_.roots.size(); ++r)
    line(fmt::format("if (live && {0} < {1}) *reinterpret_cast<decltype(out{2})*>(out{2}_line + {3}) = out{2};", spot.column, columns_, r,
                     in_parentheses(element_offset(region_.roots[r].strides, spot.element))));
}

// Lanes stand side by side on the lines.
void LineWriter::walk_columns_kept(int phase, const std::vector<int>& wanted) {
  std::set<int> leaves;
  for (int id : wanted) collect(id, phase, true, leaves);
  const auto loop = [&](auto body) {
    line("#pragma unroll");
    line("for (int item = 0; item < ITEMS; ++item) {");
    indent_ += 2;
    line(fmt::format("const {} column = item * {} + {}(threadIdx.y);", index_, threads_, conversion(index_)));
    body();
    indent_ -= 2;
    line("}");
  };
  const auto packed = [&](int id) { return beside() && varies_beside(at(id).strides); };
  for (int id : leaves) {
    const std::string type(tensor::cuda_name(node(id).dtype));
    line(fmt::format("{} {}_kept[ITEMS];", packed(id) ? fmt::format("Pack<{}, VEC>", type) : type, names_[static_cast<std::size_t>(id)]));
    first_pass_[id] = phase;
  }
  if (!leaves.empty())
    loop([&] {
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
  loop([&] {
    if (beside()) elements_beside(phase, {true, "column", "column", {}});
    else element(phase, {true, "column", "column", {}});
  });
}

void LineWriter::walk_columns(int phase, const std::vector<int>& wanted) {
  if (cached_) {
    walk_columns_kept(phase, wanted);
    if (!longer_lines_possible()) return;
    line(fmt::format("for ({0} column = ITEMS * {1} + {3}(threadIdx.y); column < {2}; column += {1}) {{", index_, threads_,
                     columns_, conversion(index_)));
    indent_ += 2;
    if (beside()) elements_beside(phase, {false, "column", "column", {}});
    else element(phase, {false, "column", "column", {}});
    indent_ -= 2;
    line("}");
    return;
  }
  line(fmt::format("#pragma unroll {}", file_.variant().wide ? 16 : 4));  // accesses on their way
  if (splits_ > 1)
    line(
        fmt::format("for ({0} column = {3}(blockIdx.y) * {1} + {3}(threadIdx.y); column < {2}; column += "
                    "{3}(gridDim.y) * {1}) {{",
                    index_, threads_, columns_, conversion(index_)));
  else
    line(fmt::format("for ({0} column = threadIdx.y; column < {2}; column += {1}) {{", index_, threads_, columns_));
  indent_ += 2;
  element(phase, {false, "column", "column", {}});
  indent_ -= 2;
  line("}");
}

}  // namespace cudal1::families
