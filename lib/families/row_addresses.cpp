// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include "families/epilogue.hpp"

#include <algorithm>

namespace cudal1::families {

void RowWriter::line_coordinates() {
  line_at_.assign(region_.space.size(), "");
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < region_.space.size(); ++i)
    if (!region_.element[i]) dims.push_back(i);
  if (dims.size() == 1) line_at_[dims[0]] = "line";
  else
    for (const std::string& each : coordinates_along(region_.space, dims, "line", line_index_, line_at_, arguments_)) line(each);
}

std::string RowWriter::element_offset(const tensor::Shape& strides, const std::string& column) {
  const int single = layout_.single_element_dim();
  if (single >= 0) {
    const tensor::Extent& stride = strides[static_cast<std::size_t>(single)];
    if (is_zero(stride)) return "0";
    return is_one(stride) ? column : fmt::format("size_t({}) * {}", column, arguments_.number(stride));
  }
  std::string result, rest = column;
  for (std::size_t i = region_.space.size(); i-- > 0;) {
    if (!region_.element[i]) continue;
    const std::string extent = arguments_.number(region_.space[i]);
    const bool first = std::none_of(region_.element.begin(), region_.element.begin() + static_cast<std::ptrdiff_t>(i),
                                    [](char e) { return e != 0; });
    if (!is_zero(strides[i])) {
      const std::string here = first ? in_parentheses(rest) : fmt::format("({} % {})", in_parentheses(rest), extent);
      result += (result.empty() ? "" : " + ") +
                (is_one(strides[i]) ? here : fmt::format("size_t({}) * {}", here, arguments_.number(strides[i])));
    }
    rest = fmt::format("{} / {}", in_parentheses(rest), extent);
  }
  return result.empty() ? "0" : result;
}

// Names what an instance is read from, and loads what a whole row shares.
void RowWriter::bind(int id) {
  const Instance& instance = at(id);
  std::string& name = names_[id];
  const Node& from = node(id);
  if (!instance.leaf) {
    name = fmt::format("v{}{}", id, beside() && instance.level == Level::row ? ".at[i]" : "");
    return;
  }
  if (from.is<Number>()) {
    name = arguments_.number(from);
    return;
  }
  if (from.is<Coordinate>()) {
    name = fmt::format("v{}", id);
    if (instance.level == Level::row) {
      std::string text = "0";
      for (std::size_t i = 0; i < instance.strides.size(); ++i)
        if (!is_zero(instance.strides[i])) text = line_at_[i];
      line(declared(from, name, converted(compute_type(from.dtype), text)));
    }
    return;
  }
  const std::string pointer = arguments_.pointer(instance.buffer, from.dtype, false);
  name = fmt::format("{}_{}", pointer, id);
  if (instance.indirect >= 0) return;  // read_indirect()
  if (instance.level == Level::row) {
    const std::string where = offset(instance.strides, instance.offset).text();
    if (beside() && layout_.varies_beside(instance.strides)) {
      line(fmt::format("Pack<{}, VEC> {};", compute_type(from.dtype), name));
      each_line(fmt::format("{}.at[i] = {};", name, converted(compute_type(from.dtype), fmt::format("{}[{} + i]", pointer, where))));
      name += ".at[i]";
      return;
    }
    line(declared(from, name, converted(compute_type(from.dtype), fmt::format("{}[{}]", pointer, where))));
    return;
  }
  line(fmt::format("const {}* {}_line = {}{};", tensor::cuda_name(from.dtype), name, pointer,
                   offset(instance.strides, instance.offset).behind()));
}

// The one element of a row that another leaf names; zero where it names none.
void RowWriter::read_indirect(int id) {
  const Instance& instance = at(id);
  const Node& from = node(id);
  const std::string which = names_[instance.indirect], type = compute_type(from.dtype);
  const std::string element = is_one(instance.step) ? which : fmt::format("{} * {}", which, arguments_.number(instance.step));
  line(fmt::format("const {} {} = {} >= 0 && {} < {} ? {} : {};", type, names_[id], which, which, columns_,
                   converted(type, fmt::format("{}[{}{}]", arguments_.pointer(instance.buffer, from.dtype, false), element,
                                               offset(instance.strides, instance.offset).behind())),
                   converted(type, "0")));
}

void RowWriter::join_team() {
  line(fmt::format("const int rank = blockIdx.x % {};", team_));
  int reductions = 0;
  for (const Instance& instance : region_.instances)
    reductions += !instance.leaf && dag_.at(instance.node).is<Reduce>() ? 1 : 0;
  if (meets_once()) reductions = 1;
  const std::string exchanges = fmt::format("{}{}", in_parentheses(region_.rows().text), reductions == 1 ? "" : fmt::format(" * {}", reductions));
  const std::string parts = file_.new_scratch("parts", "int64", {tensor::Extent{fmt::format("{} * {}", exchanges, team_), {}}}, "0");
  parts_ = arguments_.pointer(parts, tensor::Dtype::int64, true);
  if (meets_once()) return shares();
  parts_ = fmt::format("{} + (line * {}", parts_, reductions);
}

// The first row of a block starts on its way to shared memory; every thread copies what it will read itself, so that
// no barrier is needed.
void RowWriter::prefetch() {
  std::set<int> leaves;
  for (int id : passes_.targets(0)) passes_.collect(id, 0, true, leaves);
  for (int id : leaves)
    if (layout_.unit_stride(at(id).strides) && layout_.varies_by_row(at(id).strides) && tensor::size_of(node(id).dtype) == 4)
      prefetched_.push_back(id);
  if (prefetched_.empty()) return;
  line("extern __shared__ float4 ahead[];");
  const auto copies = [&] {
    for (std::size_t i = 0; i < prefetched_.size(); ++i)
      line(fmt::format("copy_ahead({0}, {1}_line + (column < {2} ? column : 0), column < {2});", prefetched_at(i), names_[prefetched_[i]], columns_));
  };
  const auto fetch = [&] {
    line_coordinates();
    for (int id : prefetched_) bind(id);
    each_item("ITEMS", copies);
    line(R"(asm volatile("cp.async.commit_group;" ::: "memory");)");
  };
  scope(fmt::format("const auto fetch = [&]({} line) {{", line_index_), fetch, "};");
  line(fmt::format("if (WHOLE && blockIdx.x < {}) fetch(blockIdx.x);", lines_));
}

std::string RowWriter::prefetched_at(std::size_t which) const {
  return fmt::format("&ahead[({} * ITEMS + item) * {} + threadIdx.x]", which, threads_);
}

void RowWriter::begin_columns() {
  if (beside()) line(fmt::format("const {0} first = {3}(blockIdx.x) * {1} + (part * {2} + {3}(threadIdx.x)) * VEC;", line_index_, width_, lanes(), conversion(line_index_)));
  else line(fmt::format("const {} first = {}(blockIdx.x) * {} + threadIdx.x;", line_index_, conversion(line_index_), width_));
  line(fmt::format("const bool live = first < {};", lines_));
  line(fmt::format("const {} line = live ? first : {} - {};  // idle threads keep the barriers whole", line_index_,
                   lines_, beside() ? "VEC" : "1"));
  lane_ = "threadIdx.y";
  if (geometry_.cached) line(fmt::format("constexpr int ITEMS = {};", items_));
}

void RowWriter::begin_persistent() {
  line(fmt::format("constexpr int ROWS = 1, ITEMS = {};", items_));
  const std::string each = team_.empty() ? "" : " / " + team_;
  if (team_.empty()) prefetch();
  else join_team();
  if (trails()) {
    line(fmt::format("const {} teams = gridDim.x / {};", line_index_, team_));
    line(fmt::format("for ({} step = blockIdx.x / {}; step < {} + teams; step += teams) {{", line_index_, team_, lines_));
    indent_ += 2;
    line(fmt::format("if (step < {}) {{", lines_));
    indent_ += 2;
    line(fmt::format("const {} line = step;", line_index_));
  } else {
    line(fmt::format("for ({0} line = blockIdx.x{1}; line < {2}; line += gridDim.x{1}) {{", line_index_, each, lines_));
    indent_ += 2;
  }
  lane_ = "threadIdx.x";
}

void RowWriter::begin_rows() {
  line(fmt::format("constexpr int ROWS = {0} < 256 ? 256 / {0} : 1;", threads_));
  if (geometry_.cached) line(fmt::format("constexpr int ITEMS = {};", items_));
  if (!totals_.empty()) begin_totals();
  if (several_rows()) {
    line(totals_.empty() ? fmt::format("const {} first = {}(blockIdx.x) * ROWS + threadIdx.y;", line_index_, conversion(line_index_))
                         : fmt::format("const {} first = base + threadIdx.y;", line_index_));
    line(fmt::format("const bool live = first < {};", lines_));
    line(fmt::format("const {} line = live ? first : {} - 1;  // idle threads keep the barriers whole", line_index_,
                     lines_));
  } else {
    line("const bool live = blockIdx.x * ROWS + threadIdx.y == 0;");
  }
  lane_ = "threadIdx.x";
}

void RowWriter::begin_pointwise() {
  lane_ = "threadIdx.x";
  if (geometry_.rows_per_block) {
    line(fmt::format("constexpr int ITEMS = {};", items_));
    if (several_rows()) line(fmt::format("constexpr int ROWS = 256 / {};", threads_));
  }
  line(fmt::format("constexpr int TILE = {} * {} * VEC;", geometry_.rows_per_block ? "ITEMS" : items_, threads_));
  if (several_rows()) {
    line(fmt::format("const {0} chunks = ({1} + TILE - 1) / TILE;", index_, columns_));
    if (geometry_.rows_per_block)
      line(fmt::format("const {} line = {}(blockIdx.x / chunks) * ROWS + threadIdx.y;", line_index_, conversion(line_index_)));
    else line(fmt::format("const {} line = {}(blockIdx.x / chunks);", line_index_, conversion(line_index_)));
    if (geometry_.rows_per_block) line(fmt::format("if (line >= {}) return;", lines_));
    line(fmt::format("const {0} start = {1}(blockIdx.x % chunks) * TILE + {1}(threadIdx.x) * VEC;", index_, conversion(index_)));
  } else {
    if (geometry_.rows_per_block) line("if (threadIdx.y > 0) return;");
    line(fmt::format("const {0} start = {1}(blockIdx.x) * TILE + {1}(threadIdx.x) * VEC;", index_, conversion(index_)));
  }
}

void RowWriter::prepare() {
  const tensor::Extent lines = region_.rows(), columns = region_.columns();
  declare_inputs(region_, dag_, arguments_);
  for (const Region::Root& root : region_.roots) arguments_.pointer(root.buffer, node(root.instance).dtype, true);
  columns_ = arguments_.number(columns);
  lines_ = arguments_.number(lines);
  index_ = index_type(*std::max_element(columns.values.begin(), columns.values.end()));
  line_index_ = index_type(*std::max_element(lines.values.begin(), lines.values.end()));
  indent_ = 2;
  if (walk_ != Walk::columns) line(fmt::format("constexpr int VEC = {};", geometry_.vec));
  if (walk_ == Walk::columns) begin_columns();
  else if (persistent()) begin_persistent();
  else if (walk_ == Walk::rows) begin_rows();
  else begin_pointwise();
  line_coordinates();
  for (int id = 0; id < region_.count(); ++id) bind(id);
}
}  // namespace cudal1::families
