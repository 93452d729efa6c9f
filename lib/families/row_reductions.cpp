// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include "families/epilogue.hpp"

namespace cudal1::families {

std::string RowWriter::neutral(const Node& reduce) const {
  const std::string type = compute_type(reduce.dtype);
  const bool low = reduce.reduces("max") || reduce.reduces("argmax");
  if (reduce.reduces("sum")) return "0";
  if (reduce.reduces("prod")) return "1";
  const std::string value_type =
      finds_index(reduce) ? compute_type(dag_.at(reduce.operands[0]).dtype) : type;
  if (value_type == "float") return low ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
  if (value_type == "double")
    return low ? "__longlong_as_double(0xfff0000000000000)" : "__longlong_as_double(0x7ff0000000000000)";
  if (value_type == "long long") return low ? "-0x7fffffffffffffffLL - 1" : "0x7fffffffffffffffLL";
  if (value_type == "bool") return low ? "false" : "true";
  return low ? "-0x7fffffff - 1" : "0x7fffffff";
}

std::string RowWriter::combination(const Node& reduce) {
  if (reduce.reduces("sum")) return "Sum";
  if (reduce.reduces("prod")) return "Product";
  if (reduce.reduces("max")) return "Larger";
  if (reduce.reduces("min")) return "Smaller";
  return first(reduce);
}

std::string RowWriter::accumulator_type(int id) const {
  const Node& reduce = node(id);
  if (!finds_index(reduce)) return compute_type(reduce.dtype);
  return fmt::format("Found<{}, {}>", compute_type(dag_.at(reduce.operands[0]).dtype),
                     index_);
}

void RowWriter::reduce(int phase) {
  for (int id = 0; id < region_.count(); ++id) {
    if (!passes_.reducing(phase, id)) continue;
    std::string call = walk_ == Walk::columns
                                 ? fmt::format("reduce_column<{}, {}>(acc{}, {})", threads_, width_, id, combine(node(id)))
                                 : fmt::format("reduce_row<{}, ROWS>(acc{}, {})", threads_, id, combine(node(id)));
    if (beside()) {
      line(fmt::format("const Pack<{}, VEC> v{} = reduce_column<{}, {}>(acc{}, Each<{}>());", compute_type(node(id).dtype), id, threads_,
                       lanes(), id, combination(node(id))));
      names_[id] = fmt::format("v{}.at[i]", id);
      continue;
    }
    if (meets_once()) {
      line(fmt::format("const float own{} = {};", id, call));
      continue;
    }
    if (!team_.empty())
      call = fmt::format("reduce_team<{0}>({1}, {2} + {3}) * {0}, {4})", team_, call, parts_, exchanged_++, combine(node(id)));
    line(fmt::format("const {} v{} = {}{};", compute_type(node(id).dtype), id, call,
                     finds_index(node(id)) ? ".index" : ""));
    names_[id] = fmt::format("v{}", id);
  }
  if (!meets_once()) return;
  if (phase == 0) stand_in();
  if (phase == 1) {
    give();
    if (trails()) come_back();
    take();
  }
}

std::string RowWriter::meeting_place() const { return fmt::format("{} + line * {}", parts_, team_); }

// How many elements of a row a block of the team has.
void RowWriter::shares() {
  if (meeting_.centre < 0) return;
  line(fmt::format("const {0} share = {1} * VEC, full = {2} / share;", index_, threads_, columns_));
  line("const auto elements_of = [&](int block) {");
  line(fmt::format("  return float((full / {0} + (block < full % {0})) * share + (block == full % {0} ? {1} % share : 0));", team_, columns_));
  line("};");
}

// What stands for the first reduction while a block is on its own.
void RowWriter::stand_in() {
  const int first = meeting_.first;
  const std::string own = fmt::format("own{}", first);
  if (meeting_.powers >= 0) {
    // Where all is -inf any number will do: the powers are 0.
    line(fmt::format("const float near{0} = {1} == {2} ? 0 : {1};", first, own, neutral(node(first))));
    names_[first] = fmt::format("near{}", first);
  } else {
    line(fmt::format("const float near{0} = elements_of(rank) > 0 ? {1} / elements_of(rank) : 0;", meeting_.centre, own));
    names_[meeting_.centre] = fmt::format("near{}", meeting_.centre);
  }
}

void RowWriter::give() {
  line(fmt::format("give(own{}, own{}, {}, rank);", meeting_.first, meeting_.second, meeting_place()));
}

void RowWriter::take() {
  const int first = meeting_.first, second = meeting_.second;
  names_[first] = fmt::format("v{}", first);
  names_[second] = fmt::format("v{}", second);
  std::string call = fmt::format("take_powers<{}>({})", team_, meeting_place());
  if (meeting_.centre >= 0) {
    names_[meeting_.centre] = fmt::format("v{}", meeting_.centre);
    const auto text = [&](int operand) { return names_[operand]; };
    call = fmt::format("take_moments<{}>({}, elements_of, [&](float v{}) {{ {} return v{}; }})", team_, meeting_place(), first,
                       statement(meeting_.centre, text), meeting_.centre);
  }
  line(fmt::format("const float2 both = {};", call));
  line(fmt::format("const float v{} = both.x, v{} = both.y;", first, second));
  line_values(1);
  if (meeting_.powers >= 0 && kept_later_.count(meeting_.powers) != 0)
    line(fmt::format("const float again = near{0} > v{0} ? 1 : expf(near{0} - v{0});  // kept powers were about the block's own", first));
}

// A block goes on to the next row when it has given its part of one, and comes back to that one afterwards: by then the
// others have given theirs, and the row is still in the L2 cache.
void RowWriter::come_back() {
  indent_ -= 2;
  line("}");
  line("if (step >= teams) {");
  indent_ += 2;
  line(fmt::format("const {} line = step - teams;", line_index_));
  line_coordinates();
  for (int id = 0; id < region_.count(); ++id) bind(id);
  line_values(0);
  early_.clear();
  for (const auto& [id, phase] : passes_.first) early_.insert(id);
  passes_.first.clear();
  kept_later_.clear();
  last_use_ = true;
}

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
  const auto value = [&](std::size_t root) { return names_[region_.roots[root].instance]; };
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
