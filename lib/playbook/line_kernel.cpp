// SPDX-License-Identifier: Apache-2.0
#include "playbook/line_kernel.hpp"

#include "playbook/arguments.hpp"
#include "playbook/device_functions.hpp"
#include "playbook/pointwise.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

using Level = Instance::Level;

// Writes one kernel. Statements of a pass appear in two places, once for what registers hold and once for the rest of
// a long line, so they are produced by functions of the place.
class LineWriter {
 public:
  LineWriter(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits)
      : region_(region), dag_(dag), walk_(walk), file_(file), splits_(splits), arguments_(file.scalars()) {}

  void write() {
    choose_geometry();
    prepare();
    for (int phase = 0; phase <= last_phase_; ++phase) pass(phase);
    finish();
  }

 private:
  const Node& node(int instance) const { return dag_.nodes[static_cast<std::size_t>(at(instance).node)]; }
  const Instance& at(int instance) const { return region_.instances[static_cast<std::size_t>(instance)]; }
  bool vectorised() const { return vec_ > 1; }
  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(indent_), ' ') + text + "\n"; }

  // Which iteration dimension is the element's, when there is only one.
  int single_element_dim() const {
    int found = -1;
    for (std::size_t i = 0; i < region_.space.size(); ++i)
      if (region_.element[i]) found = found < 0 ? static_cast<int>(i) : -2;
    return found;
  }

  // Whether the elements of a line lie one behind the other.
  bool unit_stride(const tensor::Shape& strides) const {
    tensor::Extent step = literal(1, region_.assignments);
    bool any = false;
    for (std::size_t i = strides.size(); i-- > 0;) {
      if (!region_.element[i] || is_one(region_.space[i])) continue;
      if (!(strides[i] == step)) return false;
      step = times(region_.space[i], step);
      any = true;
    }
    return any;
  }

  static bool varies(const tensor::Shape& strides, const std::vector<char>& which, char wanted) {
    for (std::size_t i = 0; i < strides.size(); ++i)
      if ((which[i] != 0) == (wanted != 0) && !is_zero(strides[i])) return true;
    return false;
  }

  void choose_geometry() {
    const tensor::Extent columns = region_.elements();
    most_columns_ = largest(columns, region_.workloads);
    last_phase_ = region_.phases();
    if (splits_ > 1) last_phase_ = 0;
    std::size_t widest = 1;
    bool any = false;
    const auto consider = [&](const tensor::Shape& strides, tensor::Dtype dtype) {
      if (strides.empty() || !unit_stride(strides)) return;
      any = true;
      widest = std::max(widest, tensor::size_of(dtype));
    };
    for (const Instance& instance : region_.instances)
      if (instance.leaf && !instance.buffer.empty())
        consider(instance.strides, dag_.nodes[static_cast<std::size_t>(instance.node)].dtype);
    for (const Region::Root& root : region_.roots) consider(root.strides, node(root.instance).dtype);
    vec_ = 1;
    if (any && walk_ != Walk::columns && file_.style().vector) {
      vec_ = static_cast<int>(std::max<std::size_t>(1, 16 / widest));
      const auto fits = [&](int vec) {
        for (std::size_t w = 0; w < region_.workloads && w < columns.values.size(); ++w)
          if (columns.values[w] % vec != 0) return false;
        return true;
      };
      while (vec_ > 1 && !fits(vec_)) vec_ /= 2;
    }
    const std::int64_t packs = (most_columns_ + vec_ - 1) / vec_;
    const auto items_at = [&](std::int64_t threads) { return (packs + threads - 1) / threads; };
    name_ = file_.unique(walk_ == Walk::pointwise ? "pointwise"
                         : walk_ == Walk::rows    ? (splits_ > 1 ? "row_parts" : "rows")
                                                  : (splits_ > 1 ? "column_parts" : "columns"));
    std::vector<std::int64_t> threads;
    if (walk_ == Walk::pointwise) {
      std::int64_t most = 1;
      while (most < packs && most < 256) most *= 2;
      rows_per_block_ = most < 256;
      if (rows_per_block_) {
        threads = {most};
        items_ = "1";
      } else {
        threads = {256, 128, 512};
        if (file_.style().wide) threads = {512, 1024};
        const std::string name = file_.tune(
            "ITEMS", file_.style().wide ? std::vector<std::int64_t>{8, 4} : std::vector<std::int64_t>{4, 2, 8});
        items_ = name;
      }
    } else if (walk_ == Walk::rows) {
      cached_ = splits_ == 1 && file_.style().cache;
      const std::int64_t budget = std::max<std::int64_t>(1, 64 / (vec_ * std::max(1, kept_count())));
      for (std::int64_t t : {256, 512, 128, 1024, 64, 32}) {
        if (cached_ ? items_at(t) <= std::min<std::int64_t>(budget, 8) && (t == 32 || items_at(t / 2) > 1)
                    : (t >= 128 && t <= 512))
          threads.push_back(t);
      }
      if (threads.empty()) {
        // Longer than a block's registers: several blocks hold it together, or it is read again from the second pass on.
        cached_ = false;
        threads = {512, 256, 1024};
        if (file_.style().team) choose_team(packs, threads);
      }
      if (!has_lines() && !cached_ && team_.empty()) threads = {1024, 512};  // one block for all there is
      if (file_.style().wide) std::sort(threads.begin(), threads.end());
      if (threads.size() > 4) threads.resize(4);
      rows_per_block_ = true;
    } else {
      const std::int64_t rows = most_columns_;
      cached_ = splits_ == 1 && file_.style().cache && passes() > 1;
      for (std::int64_t t : {8, 16, 4, 32})
        if (cached_ && t <= rows && (rows + t - 1) / t * kept_count() <= 32) threads.push_back(t);
      if (threads.empty()) cached_ = false;
      for (std::int64_t t : {16, 32, 8, 4, 1})
        if (!cached_ && (t * 2 <= rows || t == 1)) threads.push_back(t);
      if (threads.size() > 3) threads.resize(3);
      if (threads.size() > 1 && threads.back() == 1) threads.pop_back();
    }
    if (team_.empty()) threads_ = file_.tune("THREADS", threads);
    if (walk_ == Walk::columns)
      width_ = file_.tune("LINES", cached_ ? std::vector<std::int64_t>{64, 32, 128} : std::vector<std::int64_t>{32},
                          fmt::format("LINES * {} <= 1024", threads_));
    const std::string step = walk_ == Walk::columns ? "THREADS" : team_.empty() ? "THREADS * VEC" : team_ + " * THREADS * VEC";
    if (cached_) items_ = fmt::format("({} + {} - 1) / ({})", most_columns_, step, step);
    if (threads_ != "THREADS") replace(items_, "THREADS", threads_);
  }

  bool has_lines() const { return !is_one(region_.lines()); }

  // How many passes read elements.
  int passes() const {
    int count = 0;
    for (int phase = 0; phase <= last_phase_; ++phase) count += targets(phase).empty() ? 0 : 1;
    return count;
  }

  // Blocks that hold a line in their registers together and exchange what they reduce through memory. All of a launch are
  // resident at once, BLOCKS / 128 on a multiprocessor; several overlap loading, waiting and storing.
  void choose_team(std::int64_t packs, std::vector<std::int64_t>& threads) {
    bool plain = vec_ == 4 && passes() > 1;
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const Node& from = node(static_cast<int>(i));
      if (!at(static_cast<int>(i)).leaf && from.kind == Kind::reduce)
        plain = plain && !finds_index(from) && compute_type(from.dtype) == "float";
    }
    std::int64_t most = 2;
    while (most < 512 && packs > most * 256 * 8) most *= 2;
    if (!plain || packs > most * 256 * 8) return;
    cached_ = true;
    std::vector<std::int64_t> sizes{most};
    for (std::int64_t size : {most / 2, most / 4})
      if (size >= 2) sizes.push_back(size);
    // All registers of 128 multiprocessors hold 2^20 packs with as much again to compute in.
    team_ = file_.tune("TEAM", sizes);
    threads = {256, 512};
    threads_ = file_.tune("THREADS", threads, fmt::format("{} <= TEAM * THREADS * 16", packs));
    blocks_ = file_.tune("BLOCKS", {512, 256, 128},
                         fmt::format("BLOCKS * {0} <= TEAM * 1048576 && 2 * BLOCKS * {0} > TEAM * 1048576 && BLOCKS * THREADS <= "
                                     "131072",
                                     packs));
  }

  static void replace(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
      text.replace(i, from.size(), to);
  }

  // Arrays that a line needs while it is in registers.
  int kept_count() const {
    int count = 0;
    for (std::size_t i = 0; i < region_.instances.size(); ++i)
      if (keepable(static_cast<int>(i))) ++count;
    return count;
  }

  bool keepable(int instance) const {
    if (at(instance).level != Level::element) return false;
    if (at(instance).leaf) return !at(instance).buffer.empty();
    const PointwiseFunction* function = find_pointwise(node(instance).function);
    return function != nullptr && function->costly;
  }

  void prepare() {
    const tensor::Extent lines = region_.lines(), columns = region_.elements();
    has_lines_ = !is_one(lines);
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const Instance& instance = region_.instances[i];
      if (instance.leaf && !instance.buffer.empty())
        arguments_.pointer(instance.buffer, node(static_cast<int>(i)).dtype, false);
    }
    for (const Region::Root& root : region_.roots) arguments_.pointer(root.buffer, node(root.instance).dtype, true);
    columns_ = arguments_.number(columns);
    lines_ = arguments_.number(lines);
    index_ = index_type(*std::max_element(columns.values.begin(), columns.values.end()));
    line_index_ = index_type(*std::max_element(lines.values.begin(), lines.values.end()));
    indent_ = 2;
    if (walk_ != Walk::columns) line(fmt::format("constexpr int VEC = {};", vec_));
    if (walk_ == Walk::columns) {
      line(fmt::format("const {0} first = {0}(blockIdx.x) * {1} + threadIdx.x;", line_index_, width_));
      line(fmt::format("const bool live = first < {};", lines_));
      line(fmt::format("const {} line = live ? first : {} - 1;  // idle threads keep the barriers whole", line_index_,
                       lines_));
      lane_ = "threadIdx.y";
      if (cached_) line(fmt::format("constexpr int ITEMS = {};", items_));
    } else if (!team_.empty()) {
      line(fmt::format("constexpr int ROWS = 1, ITEMS = {};", items_));
      line(fmt::format("const int rank = blockIdx.x % {};", team_));
      int reductions = 0;
      for (const Instance& instance : region_.instances)
        reductions += !instance.leaf && dag_.nodes[static_cast<std::size_t>(instance.node)].kind == Kind::reduce ? 1 : 0;
      const std::string exchanges = fmt::format("{} * {}", in_parentheses(lines.text), reductions);
      parts_ = file_.unique("parts");
      arrived_ = file_.unique("arrived");
      file_.scratch(parts_, "float32", {tensor::Extent{fmt::format("{} * {}", exchanges, team_), {}}});
      file_.scratch(arrived_, "int32", {tensor::Extent{exchanges, {}}}, "0");
      parts_ = fmt::format("{} + (line * {}", arguments_.pointer(parts_, tensor::Dtype::float32, true), reductions);
      arrived_ = fmt::format("{} + (line * {}", arguments_.pointer(arrived_, tensor::Dtype::int32, true), reductions);
      line(fmt::format("for ({0} line = blockIdx.x / {1}; line < {2}; line += gridDim.x / {1}) {{", line_index_, team_, lines_));
      indent_ += 2;
      lane_ = "threadIdx.x";
    } else if (walk_ == Walk::rows) {
      line(fmt::format("constexpr int ROWS = {0} < 256 ? 256 / {0} : 1;", threads_));
      if (cached_) line(fmt::format("constexpr int ITEMS = {};", items_));
      if (has_lines_) {
        line(fmt::format("const {0} first = {0}(blockIdx.x) * ROWS + threadIdx.y;", line_index_));
        line(fmt::format("const bool live = first < {};", lines_));
        line(fmt::format("const {} line = live ? first : {} - 1;  // idle threads keep the barriers whole", line_index_,
                         lines_));
      } else {
        line("const bool live = blockIdx.x * ROWS + threadIdx.y == 0;");
      }
      lane_ = "threadIdx.x";
    } else {
      lane_ = "threadIdx.x";
      if (rows_per_block_) {
        line(fmt::format("constexpr int ITEMS = {};", items_));
        if (has_lines_) line(fmt::format("constexpr int ROWS = 256 / {};", threads_));
      }
      const std::string tile = fmt::format("(ITEMS * {} * VEC)", threads_);
      std::string chunk_tile = tile;
      if (!rows_per_block_) replace(chunk_tile, "ITEMS", items_);
      line(fmt::format("constexpr int TILE = {};", chunk_tile.substr(1, chunk_tile.size() - 2)));
      if (has_lines_) {
        line(fmt::format("const {0} chunks = ({1} + TILE - 1) / TILE;", index_, columns_));
        if (rows_per_block_)
          line(fmt::format("const {0} line = {0}(blockIdx.x / chunks) * ROWS + threadIdx.y;", line_index_));
        else line(fmt::format("const {0} line = {0}(blockIdx.x / chunks);", line_index_));
        if (rows_per_block_) line(fmt::format("if (line >= {}) return;", lines_));
        line(fmt::format("const {0} start = {0}(blockIdx.x % chunks) * TILE + {0}(threadIdx.x) * VEC;", index_));
      } else {
        if (rows_per_block_) line("if (threadIdx.y > 0) return;");
        line(fmt::format("const {0} start = {0}(blockIdx.x) * TILE + {0}(threadIdx.x) * VEC;", index_));
      }
    }
    line_coordinates();
    for (std::size_t i = 0; i < region_.instances.size(); ++i) bind(static_cast<int>(i));
  }

  void line_coordinates() {
    line_at_.assign(region_.space.size(), "");
    std::vector<int> dims;
    for (std::size_t i = 0; i < region_.space.size(); ++i)
      if (!region_.element[i]) dims.push_back(static_cast<int>(i));
    if (dims.size() == 1) {
      line_at_[static_cast<std::size_t>(dims[0])] = "line";
      return;
    }
    std::string rest = "line";
    for (std::size_t k = dims.size(); k-- > 0;) {
      const auto dim = static_cast<std::size_t>(dims[k]);
      line_at_[dim] = fmt::format("at{}", dim);
      const std::string extent = arguments_.number(region_.space[dim]);
      if (k == 0) {
        line(fmt::format("const {} at{} = {};", line_index_, dim, rest));
      } else {
        line(fmt::format("const {} at{} = {} % {};", line_index_, dim, rest, extent));
        rest = fmt::format("{} / {}", rest, extent);
      }
    }
  }

  std::string offset(const tensor::Shape& strides, const tensor::Extent& start) {
    std::string result = start.values.empty() ? "" : " + " + arguments_.number(start);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (region_.element[i] || is_zero(strides[i]) || is_one(region_.space[i])) continue;
      result += " + ";
      result +=
          is_one(strides[i]) ? line_at_[i] : fmt::format("size_t({}) * {}", line_at_[i], arguments_.number(strides[i]));
    }
    return result;
  }

  // Names what an instance is read from, and loads what a whole line shares.
  void bind(int id) {
    const Instance& instance = at(id);
    names_.resize(region_.instances.size());
    std::string& name = names_[static_cast<std::size_t>(id)];
    const Node& from = node(id);
    if (!instance.leaf) {
      name = fmt::format("v{}", id);
      return;
    }
    if (from.kind == Kind::number) {
      name = arguments_.number(from);
      return;
    }
    if (from.kind == Kind::coordinate) {
      name = fmt::format("v{}", id);
      if (instance.level == Level::line) {
        std::string text = "0";
        for (std::size_t i = 0; i < instance.strides.size(); ++i)
          if (!is_zero(instance.strides[i])) text = line_at_[i];
        line(fmt::format("const {} {} = {};", compute_type(from.dtype), name,
                         converted(compute_type(from.dtype), text)));
      }
      return;
    }
    const std::string pointer = arguments_.pointer(instance.buffer, from.dtype, false);
    name = fmt::format("{}_{}", pointer, id);
    if (instance.level == Level::line) {
      const std::string where = offset(instance.strides, instance.offset);
      line(fmt::format(
          "const {} {} = {};", compute_type(from.dtype), name,
          converted(compute_type(from.dtype), fmt::format("{}[{}]", pointer, where.empty() ? "0" : where.substr(3)))));
      return;
    }
    line(fmt::format("const {}* {}_line = {}{};", tensor::cuda_name(from.dtype), name, pointer,
                     offset(instance.strides, instance.offset)));
  }

  std::string element_offset(const tensor::Shape& strides, const std::string& column) {
    const int single = single_element_dim();
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

  // Where statements of a pass stand.
  struct Spot {
    bool cached = false;          // values may come from and go to registers that outlive the pass
    std::string column, element;  // start of the pack, and this element's column
    std::map<int, std::string> known;
  };

  bool reducing(int phase, int id) const {
    return !at(id).leaf && node(id).kind == Kind::reduce && at(id).phase == phase + 1 &&
           (splits_ == 1 || at(id).phase == 1);
  }

  std::vector<int> targets(int phase) const {
    std::vector<int> result;
    for (std::size_t i = 0; i < region_.instances.size(); ++i)
      if (reducing(phase, static_cast<int>(i)) && at(static_cast<int>(i)).phase <= last_phase_ + (splits_ > 1 ? 1 : 0))
        result.push_back(at(static_cast<int>(i)).operands[0]);
    if (phase == last_phase_ && splits_ == 1)
      for (const Region::Root& root : region_.roots)
        if (varies(root.strides, region_.element, 1)) result.push_back(root.instance);
    return result;
  }

  // Element leaves that a pass reads, not counting behind what registers hold already.
  void collect(int id, int phase, bool cached, std::set<int>& leaves) const {
    if (at(id).level != Level::element) return;
    if (cached && first_pass_.count(id) != 0 && first_pass_.at(id) < phase) return;
    if (at(id).leaf) {
      if (!at(id).buffer.empty()) leaves.insert(id);
      return;
    }
    for (int operand : at(id).operands) collect(operand, phase, cached, leaves);
  }

  void load(int id, const std::string& to, const std::string& column) {
    const Instance& instance = at(id);
    const bool once = file_.style().stream && varies(instance.strides, region_.element, 0) && vectorised();
    if (unit_stride(instance.strides)) {
      line(fmt::format("{} = load{}<{}, VEC>({}_line + {}, {} - {});", to, once ? "_once" : "", whole(),
                       names_[static_cast<std::size_t>(id)], column, columns_, column));
      return;
    }
    const bool same = same_in_pack(instance.strides);
    if (same) {
      line("if (WHOLE) {");
      line(fmt::format("  const auto same = {0} < {1} ? {2}_line[{3}] : {2}_line[0];", column, columns_,
                       names_[static_cast<std::size_t>(id)], element_offset(instance.strides, column)));
      line("#pragma unroll");
      line(fmt::format("  for (int i = 0; i < VEC; ++i) {}.at[i] = same;", to));
      line("} else {");
    }
    line("#pragma unroll");
    line(fmt::format("for (int i = 0; i < VEC; ++i)"));
    line(fmt::format("  if ({0} + i < {1}) {2}.at[i] = {3}_line[{4}];", column, columns_, to,
                     names_[static_cast<std::size_t>(id)], element_offset(instance.strides, "(" + column + " + i)")));
    if (same) line("}");
  }

  // Whether whole packs read one value, as weights of channels are read along positions.
  bool same_in_pack(const tensor::Shape& strides) const {
    if (!vectorised() || single_element_dim() >= 0 || strides.empty()) return false;
    for (std::size_t i = region_.space.size(); i-- > 0;)
      if (region_.element[i]) return is_zero(strides[i]);
    return false;
  }

  std::string whole() const { return vectorised() ? "WHOLE" : "false"; }

  // The value of an instance at one element, as a name; writes the statements that it takes.
  std::string value(int id, int phase, Spot& spot) {
    const Instance& instance = at(id);
    const Node& from = node(id);
    if (const auto found = spot.known.find(id); found != spot.known.end()) return found->second;
    if (instance.level == Level::line) return names_[static_cast<std::size_t>(id)];
    if (instance.leaf && from.kind == Kind::coordinate) {
      line(fmt::format("const {} v{} = {};", compute_type(from.dtype), id,
                       converted(compute_type(from.dtype), element_offset(instance.strides, spot.element))));
      return spot.known[id] = fmt::format("v{}", id);
    }
    if (instance.leaf) {
      const std::string& name = names_[static_cast<std::size_t>(id)];
      std::string text;
      if (walk_ == Walk::columns)
        text = spot.cached ? fmt::format("{}_kept[item]", name)
                           : fmt::format("{}_line[{}]", name, element_offset(instance.strides, spot.element));
      else
        text = spot.cached && passing_.count(id) == 0 ? fmt::format("{}_kept[item].at[i]", name)
                                                       : fmt::format("{}_pack.at[i]", name);
      line(fmt::format("const {0} v{1} = {2};", compute_type(from.dtype), id,
                       compute_type(from.dtype) == tensor::cuda_name(from.dtype)
                           ? text
                           : converted(compute_type(from.dtype), text)));
      return spot.known[id] = fmt::format("v{}", id);
    }
    const bool kept = spot.cached && keepable(id) && kept_later_.count(id) != 0;
    const std::string place = fmt::format("k{}[item]{}", id, walk_ == Walk::columns ? "" : ".at[i]");
    if (kept && first_pass_.at(id) < phase) {
      line(fmt::format("const {} v{} = {};", compute_type(from.dtype), id, place));
      return spot.known[id] = fmt::format("v{}", id);
    }
    line(statement(id, [&](int operand) { return value(operand, phase, spot); }));
    if (kept) line(fmt::format("{} = v{};", place, id));
    return spot.known[id] = fmt::format("v{}", id);
  }

  template <typename Operand>
  std::string statement(int id, Operand operand_of) {
    const Node& from = node(id);
    const PointwiseFunction* function = find_pointwise(from.function);
    std::vector<std::string> operands;
    for (int operand : at(id).operands) {
      std::string text = operand_of(operand);
      const Node& source = node(operand);
      if (source.kind == Kind::number) {
        // A number takes the type that the operation computes in.
        const std::string type =
            compute_type(function->truth && at(id).operands.size() > 1 ? node(at(id).operands[0]).dtype : from.dtype);
        text = is_literal(source.function)
                   ? c_literal(source.function, function->truth ? node(at(id).operands[0]).dtype : from.dtype)
                   : converted(type, text);
      } else if (from.function == "div" && !tensor::is_floating(source.dtype)) {
        text = converted(compute_type(from.dtype), text);
      }
      operands.push_back(text);
    }
    return fmt::format("const {} v{} = {};", compute_type(from.dtype), id, spelt(*function, operands));
  }

  // Line-level values that become known with `phase`.
  void line_values(int phase) {
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const int id = static_cast<int>(i);
      const Instance& instance = at(id);
      if (instance.leaf || instance.level != Level::line || instance.phase != phase || node(id).kind == Kind::reduce)
        continue;
      line(statement(id, [&](int operand) { return names_[static_cast<std::size_t>(operand)]; }));
    }
  }

  static bool finds_index(const Node& reduce) { return reduce.function == "argmax" || reduce.function == "argmin"; }

  std::string neutral(const Node& reduce) const {
    const std::string type = compute_type(reduce.dtype);
    const bool low = reduce.function == "max" || reduce.function == "argmax";
    if (reduce.function == "sum") return "0";
    if (reduce.function == "prod") return "1";
    const std::string value_type =
        finds_index(reduce) ? compute_type(dag_.nodes[static_cast<std::size_t>(reduce.operands[0])].dtype) : type;
    if (value_type == "float") return low ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
    if (value_type == "double")
      return low ? "__longlong_as_double(0xfff0000000000000)" : "__longlong_as_double(0x7ff0000000000000)";
    if (value_type == "long long") return low ? "-0x7fffffffffffffffLL - 1" : "0x7fffffffffffffffLL";
    if (value_type == "bool") return low ? "false" : "true";
    return low ? "-0x7fffffff - 1" : "0x7fffffff";
  }

  static std::string first(const Node& reduce) { return reduce.function == "argmax" ? "FirstLarger" : "FirstSmaller"; }

  static std::string combine(const Node& reduce) {
    if (reduce.function == "sum") return "Sum()";
    if (reduce.function == "prod") return "Product()";
    if (reduce.function == "max") return "Larger()";
    if (reduce.function == "min") return "Smaller()";
    return first(reduce) + "()";
  }

  std::string accumulator_type(int id) const {
    const Node& reduce = node(id);
    if (!finds_index(reduce)) return compute_type(reduce.dtype);
    return fmt::format("Found<{}, {}>", compute_type(dag_.nodes[static_cast<std::size_t>(reduce.operands[0])].dtype),
                       index_);
  }

  // Everything that one pass does with one element.
  void element(int phase, Spot spot) {
    std::vector<std::pair<int, std::string>> sums;
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const int id = static_cast<int>(i);
      if (reducing(phase, id)) sums.emplace_back(id, value(at(id).operands[0], phase, spot));
    }
    if (!sums.empty()) {
      const bool guard = walk_ != Walk::columns || spot.cached;
      if (guard) {
        line(fmt::format("if ({} < {}) {{",
                         vectorised() ? fmt::format("{} + (WHOLE ? 0 : i)", spot.column) : spot.element, columns_));
        indent_ += 2;
      }
      for (const auto& [id, text] : sums) {
        const Node& reduce = node(id);
        if (finds_index(reduce))
          line(fmt::format("{}::take(acc{}, {}, {});", first(reduce), id, text, converted(index_, spot.element)));
        else if (reduce.function == "sum" || reduce.function == "prod")
          line(fmt::format("acc{} {}= {};", id, reduce.function == "sum" ? "+" : "*", text));
        else
          line(fmt::format("acc{0} = {1}(acc{0}, {2});", id, combine(reduce), converted(accumulator_type(id), text)));
      }
      if (guard) {
        indent_ -= 2;
        line("}");
      }
    }
    if (phase != last_phase_ || splits_ > 1) return;
    for (std::size_t r = 0; r < region_.roots.size(); ++r) {
      const Region::Root& root = region_.roots[r];
      if (!varies(root.strides, region_.element, 1)) continue;
      const std::string text = value(root.instance, phase, spot);
      const std::string type(tensor::cuda_name(node(root.instance).dtype));
      const std::string stored = type == compute_type(node(root.instance).dtype) ? text : converted(type, text);
      if (walk_ == Walk::columns)
        line(fmt::format("if (live{}) out{}_line[{}] = {};", spot.cached ? " && column < " + columns_ : "", r,
                         element_offset(root.strides, spot.element), stored));
      else line(fmt::format("out{}.at[i] = {};", r, stored));
    }
  }

  void stores(const std::string& column) {
    for (std::size_t r = 0; r < region_.roots.size(); ++r) {
      const Region::Root& root = region_.roots[r];
      if (!varies(root.strides, region_.element, 1)) continue;
      const bool always = walk_ == Walk::pointwise || !team_.empty();
      const std::string live = always ? "" : "if (live) ";
      if (unit_stride(root.strides)) {
        line(fmt::format("{}store{}<{}, VEC>(out{}_line + {}, out{}, {} - {});", live,
                         file_.style().stream && vectorised() ? "_once" : "", whole(), r, column, r, columns_, column));
      } else {
        line("#pragma unroll");
        line("for (int i = 0; i < VEC; ++i)");
        line(fmt::format("  if ({}{} + i < {}) out{}_line[{}] = out{}.at[i];",
                         always ? "" : "live && ", column, columns_, r,
                         element_offset(root.strides, "(" + column + " + i)"), r));
      }
    }
  }

  void pack_loop(int phase, const Spot& spot) {
    const bool writes = phase == last_phase_ && splits_ == 1;
    if (writes)
      for (std::size_t r = 0; r < region_.roots.size(); ++r)
        if (varies(region_.roots[r].strides, region_.element, 1))
          line(fmt::format("Pack<{}, VEC> out{};", tensor::cuda_name(node(region_.roots[r].instance).dtype), r));
    line("#pragma unroll");
    line("for (int i = 0; i < VEC; ++i) {");
    indent_ += 2;
    element(phase, spot);
    indent_ -= 2;
    line("}");
    if (writes) stores(spot.column);
  }

  std::string column_of_item() const {
    if (walk_ == Walk::pointwise) return fmt::format("start + item * {} * VEC", threads_);
    if (!team_.empty())
      return fmt::format("((item * {} + rank) * {} + {}(threadIdx.x)) * VEC", team_, threads_, index_);
    return fmt::format("(item * {} + {}(threadIdx.x)) * VEC", threads_, index_);
  }

  void pass(int phase) {
    line_values(phase);
    const std::vector<int> wanted = targets(phase);
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const int id = static_cast<int>(i);
      if (!reducing(phase, id)) continue;
      if (finds_index(node(id)))
        line(fmt::format("{} acc{} = {{{}, {}}};  // where all are as low, its first counts", accumulator_type(id), id,
                         neutral(node(id)), converted(index_, lane_ + (walk_ == Walk::columns ? "" : " * VEC"))));
      else line(fmt::format("{} acc{} = {};", accumulator_type(id), id, neutral(node(id))));
    }
    if (phase == last_phase_ && splits_ == 1) {
      for (std::size_t r = 0; r < region_.roots.size(); ++r) {
        const Region::Root& root = region_.roots[r];
        if (varies(root.strides, region_.element, 1))
          line(fmt::format("{}* out{}_line = {}{};", tensor::cuda_name(node(root.instance).dtype), r,
                           arguments_.pointer(root.buffer, node(root.instance).dtype, true), offset(root.strides, root.offset)));
      }
    }
    if (!wanted.empty()) {
      if (walk_ == Walk::columns) walk_columns(phase, wanted);
      else if (walk_ == Walk::pointwise || cached_) walk_items(phase, wanted);
      else walk_stream(phase, wanted);
    }
    reduce(phase);
  }

  void walk_items(int phase, const std::vector<int>& wanted) {
    std::set<int> leaves;
    for (int id : wanted) collect(id, phase, true, leaves);
    const std::string items = walk_ == Walk::pointwise && !rows_per_block_ ? items_ : "ITEMS";
    // A team's registers are full: what only the last pass reads is loaded there.
    if (!team_.empty() && phase > 0 && phase == last_phase_) passing_.swap(leaves);
    for (int id : leaves) {
      line(fmt::format("Pack<{}, VEC> {}_kept[{}];", tensor::cuda_name(node(id).dtype),
                       names_[static_cast<std::size_t>(id)], items));
      first_pass_[id] = phase;
    }
    if (!leaves.empty()) {
      line("#pragma unroll");
      line(fmt::format("for (int item = 0; item < {}; ++item) {{", items));
      indent_ += 2;
      line(fmt::format("const {} column = {};", index_, column_of_item()));
      for (int id : leaves) load(id, names_[static_cast<std::size_t>(id)] + "_kept[item]", "column");
      indent_ -= 2;
      line("}");
    }
    mark_kept(phase, wanted);
    for (int id : kept_here_) line(fmt::format("Pack<{}, VEC> k{}[{}];", compute_type(node(id).dtype), id, items));
    line("#pragma unroll");
    line(fmt::format("for (int item = 0; item < {}; ++item) {{", items));
    indent_ += 2;
    line(fmt::format("const {} column = {};", index_, column_of_item()));
    load_packs(passing_);
    pack_loop(phase, {true, "column", "column + i", {}});
    indent_ -= 2;
    line("}");
    if (walk_ != Walk::rows || !longer_lines_possible()) return;
    if (team_.empty())
      return walk_rest(phase, wanted, fmt::format("(ITEMS * {} + {}(threadIdx.x)) * VEC", threads_, index_));
    walk_rest(phase, wanted, fmt::format("((ITEMS * {} + rank) * {} + {}(threadIdx.x)) * VEC", team_, threads_, index_),
              fmt::format("{} * {} * VEC", team_, threads_));
  }

  // Registers are laid out for the longest line of the declared sizes; the loop behind them makes any other right too.
  bool longer_lines_possible() const { return !is_literal(columns_); }

  // Costly values that a later pass needs again.
  void mark_kept(int phase, const std::vector<int>& wanted) {
    kept_here_.clear();
    std::set<int> now;
    for (int id : wanted) reach(id, phase, now);
    for (int id : now) {
      if (at(id).leaf || !keepable(id) || first_pass_.count(id) != 0) continue;
      bool later = false;
      for (int other = phase + 1; other <= last_phase_ && !later; ++other) {
        std::set<int> then;
        for (int target : targets(other)) reach(target, phase, then);
        later = then.count(id) != 0;
      }
      if (!later) continue;
      kept_here_.push_back(id);
      kept_later_.insert(id);
      first_pass_[id] = phase;
    }
  }

  void reach(int id, int phase, std::set<int>& out) const {
    if (at(id).level != Level::element || (first_pass_.count(id) != 0 && first_pass_.at(id) < phase)) return;
    if (!out.insert(id).second) return;
    for (int operand : at(id).operands) reach(operand, phase, out);
  }

  void walk_rest(int phase, const std::vector<int>& wanted, const std::string& from, const std::string& step = "") {
    std::set<int> leaves;
    for (int id : wanted) collect(id, phase, false, leaves);
    line(fmt::format("for ({0} column = {1}; column < {2}; column += {3}) {{", index_, from, columns_,
                     step.empty() ? fmt::format("{} * VEC", threads_) : step));
    indent_ += 2;
    load_packs(leaves);
    pack_loop(phase, {false, "column", "column + i", {}});
    indent_ -= 2;
    line("}");
  }

  void load_packs(const std::set<int>& leaves) {
    for (int id : leaves) {
      line(fmt::format("Pack<{}, VEC> {}_pack;", tensor::cuda_name(node(id).dtype),
                       names_[static_cast<std::size_t>(id)]));
      load(id, names_[static_cast<std::size_t>(id)] + "_pack", "column");
    }
  }

  void walk_stream(int phase, const std::vector<int>& wanted) {
    line("#pragma unroll 4");
    if (splits_ > 1)
      walk_rest(phase, wanted, fmt::format("({0}(blockIdx.y) * {1} + {0}(threadIdx.x)) * VEC", index_, threads_),
                fmt::format("{}(gridDim.y) * {} * VEC", index_, threads_));
    else walk_rest(phase, wanted, fmt::format("{}(threadIdx.x) * VEC", index_));
  }

  // One element of every item; lanes stand side by side on the lines.
  void walk_columns_kept(int phase, const std::vector<int>& wanted) {
    std::set<int> leaves;
    for (int id : wanted) collect(id, phase, true, leaves);
    const auto loop = [&](auto body) {
      line("#pragma unroll");
      line("for (int item = 0; item < ITEMS; ++item) {");
      indent_ += 2;
      line(fmt::format("const {0} column = item * {1} + {0}(threadIdx.y);", index_, threads_));
      body();
      indent_ -= 2;
      line("}");
    };
    for (int id : leaves) {
      line(fmt::format("{} {}_kept[ITEMS];", tensor::cuda_name(node(id).dtype), names_[static_cast<std::size_t>(id)]));
      first_pass_[id] = phase;
    }
    if (!leaves.empty())
      loop([&] {
        for (int id : leaves)
          line(fmt::format("{0}_kept[item] = {0}_line[column < {1} ? {2} : 0];", names_[static_cast<std::size_t>(id)],
                           columns_, element_offset(at(id).strides, "column")));
      });
    mark_kept(phase, wanted);
    for (int id : kept_here_) line(fmt::format("{} k{}[ITEMS];", compute_type(node(id).dtype), id));
    loop([&] { element(phase, {true, "column", "column", {}}); });
  }

  void walk_columns(int phase, const std::vector<int>& wanted) {
    if (cached_) {
      walk_columns_kept(phase, wanted);
      if (!longer_lines_possible()) return;
      line(fmt::format("for ({0} column = ITEMS * {1} + {0}(threadIdx.y); column < {2}; column += {1}) {{", index_, threads_,
                       columns_));
      indent_ += 2;
      element(phase, {false, "column", "column", {}});
      indent_ -= 2;
      line("}");
      return;
    }
    line("#pragma unroll 4");
    if (splits_ > 1)
      line(
          fmt::format("for ({0} column = {0}(blockIdx.y) * {1} + {0}(threadIdx.y); column < {2}; column += "
                      "{0}(gridDim.y) * {1}) {{",
                      index_, threads_, columns_));
    else
      line(fmt::format("for ({0} column = threadIdx.y; column < {2}; column += {1}) {{", index_, threads_, columns_));
    indent_ += 2;
    element(phase, {false, "column", "column", {}});
    indent_ -= 2;
    line("}");
  }

  void reduce(int phase) {
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const int id = static_cast<int>(i);
      if (!reducing(phase, id)) continue;
      std::string call = walk_ == Walk::columns
                                   ? fmt::format("reduce_column<{}, {}>(acc{}, {})", threads_, width_, id, combine(node(id)))
                                   : fmt::format("reduce_row<{}, ROWS>(acc{}, {})", threads_, id, combine(node(id)));
      if (!team_.empty())
        call = fmt::format("reduce_team<{0}>({1}, {2} + {4}) * {0}, {3} + {4}), {5})", team_, call, parts_, arrived_,
                           exchanged_++, combine(node(id)));
      line(fmt::format("const {} v{} = {}{};", compute_type(node(id).dtype), id, call,
                       finds_index(node(id)) ? ".index" : ""));
      names_[i] = fmt::format("v{}", id);
    }
  }

  void finish() {
    for (const Region::Root& root : region_.roots) {
      if (varies(root.strides, region_.element, 1) && splits_ == 1) continue;
      const std::string type(tensor::cuda_name(node(root.instance).dtype));
      std::string where = offset(root.strides, root.offset);
      if (splits_ > 1) where += fmt::format(" + size_t(blockIdx.y) * {}", lines_);
      const std::string text = names_[static_cast<std::size_t>(root.instance)];
      line(fmt::format(
          "if ({}) {}[{}] = {};",
          walk_ == Walk::pointwise ? "start == 0"
          : team_.empty()          ? fmt::format("live && {} == 0", lane_)
                                   : "rank == 0 && threadIdx.x == 0",
          arguments_.pointer(root.buffer, node(root.instance).dtype, true), where.empty() ? "0" : where.substr(3),
          type == compute_type(node(root.instance).dtype) ? text : converted(type, text)));
    }
    if (!team_.empty()) body_ += "  }\n";
    emit();
  }

  void emit() {
    const bool reduces = region_.reduces;
    file_.helper(device_functions::pack);
    if (file_.style().stream && vectorised()) file_.helper(device_functions::pack_once);
    if (reduces) {
      file_.helper(device_functions::exchange);
      file_.helper(device_functions::operations);
      for (const Instance& instance : region_.instances)
        if (!instance.leaf && finds_index(dag_.nodes[static_cast<std::size_t>(instance.node)]))
          file_.helper(device_functions::found);
      file_.helper(walk_ == Walk::columns ? device_functions::reduce_column : device_functions::reduce_row);
      if (!team_.empty()) file_.helper(device_functions::reduce_team);
    }
    for (std::size_t i = 0; i < region_.instances.size(); ++i) include(node(static_cast<int>(i)).dtype);
    const std::string block = walk_ == Walk::columns ? fmt::format("{} * {}", width_, threads_)
                              : !team_.empty()       ? fmt::format("{}, {} / 128", threads_, blocks_)
                              : rows_per_block_      ? fmt::format("({0} < 256 ? 256 : {0})", threads_)
                                                     : threads_;
    const std::string bounds = fmt::format("__launch_bounds__({})", block);
    if (vectorised()) {
      file_.code(fmt::format("template <bool WHOLE>\n__device__ __forceinline__ void {}_body({}) {{\n{}}}\n", name_,
                             arguments_.parameters(), body_));
      file_.code(fmt::format(
          "__global__ void {} {}({}) {{\n  if ({}) {}_body<true>({});\n  else {}_body<false>({});\n}}\n", bounds, name_,
          arguments_.parameters(), aligned(), name_, arguments_.forwarded(), name_, arguments_.forwarded()));
    } else {
      file_.code(fmt::format("__global__ void {} {}({}) {{\n{}}}\n", bounds, name_, arguments_.parameters(), body_));
    }
    launch();
    account();
  }

  void include(tensor::Dtype dtype) {
    if (dtype == tensor::Dtype::float16) file_.include("cuda_fp16.h");
    if (dtype == tensor::Dtype::bfloat16) file_.include("cuda_bf16.h");
  }

  // Rows start at aligned addresses when every stride between them is a multiple of the pack.
  std::string aligned() {
    std::vector<std::string> numbers{columns_};
    const auto insert = [&](const std::string& number) {
      if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
    };
    const auto consider = [&](const tensor::Shape& strides, const tensor::Extent& start) {
      if (strides.empty() || !unit_stride(strides)) return;
      if (!start.values.empty()) insert(arguments_.number(start));
      for (std::size_t i = 0; i < strides.size(); ++i)
        if (!region_.element[i] && !is_zero(strides[i])) insert(arguments_.number(strides[i]));
    };
    for (const Instance& instance : region_.instances) {
      if (!instance.leaf || instance.buffer.empty()) continue;
      consider(instance.strides, instance.offset);
      if (!same_in_pack(instance.strides)) continue;
      for (std::size_t i = 0; i < region_.space.size(); ++i)
        if (region_.element[i] && i + 1 == region_.space.size()) insert(arguments_.number(region_.space[i]));
    }
    for (const Region::Root& root : region_.roots) consider(root.strides, root.offset);
    std::string result;
    for (const std::string& number : numbers)
      result += fmt::format("{}{} % {} == 0", result.empty() ? "" : " && ", number, vec_);
    return result;
  }

  void launch() {
    const std::string lines = region_.lines().text, columns = region_.elements().text;
    std::string grid, block;
    if (walk_ == Walk::columns) {
      grid = fmt::format("ceil_div({}, {})", lines, width_);
      block = fmt::format("dim3({}, {})", width_, threads_);
    } else if (!team_.empty()) {
      grid = fmt::format("{0} / {1} * {1}", blocks_, team_);
      block = threads_;
    } else if (walk_ == Walk::rows) {
      grid = fmt::format("ceil_div({}, max(1, 256 / {}))", lines, threads_);
      block = fmt::format("dim3({0}, max(1, 256 / {0}))", threads_);
    } else {
      const std::string tile = vec_ == 1 ? fmt::format("{} * {}", rows_per_block_ ? "1" : items_, threads_)
                                         : fmt::format("{} * {} * {}", rows_per_block_ ? "1" : items_, threads_, vec_);
      grid = fmt::format("ceil_div({}, {})", columns, tile);
      if (has_lines_)
        grid = fmt::format(
            "{} * {}", rows_per_block_ ? fmt::format("ceil_div({}, 256 / {})", lines, threads_) : in_parentheses(lines),
            grid);
      block = rows_per_block_ ? fmt::format("dim3({0}, 256 / {0})", threads_) : threads_;
    }
    if (splits_ > 1) grid = fmt::format("dim3({}, {})", grid, splits_);
    file_.launch(fmt::format("{}<<<{}, {}>>>({}){}", name_, grid, block, arguments_.passed(),
                             team_.empty() ? "" : " cooperative"));
  }

  void account() {
    double bytes = 0;
    const auto add = [&](const tensor::Shape& strides, tensor::Dtype dtype) {
      double elements = 1;
      for (std::size_t i = 0; i < strides.size(); ++i)
        if (!is_zero(strides[i])) elements *= static_cast<double>(region_.space[i].values[0]);
      bytes += elements * static_cast<double>(tensor::size_of(dtype));
    };
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const int id = static_cast<int>(i);
      if (!at(id).leaf || at(id).buffer.empty()) continue;
      int reads = 0;
      for (int phase = 0; phase <= last_phase_; ++phase) {
        std::set<int> leaves;
        for (int target : targets(phase)) collect(target, phase, false, leaves);
        reads += leaves.count(id) != 0 ? 1 : 0;
      }
      for (int read = 0; read < (cached_ ? 1 : std::max(1, reads)); ++read) add(at(id).strides, node(id).dtype);
    }
    for (const Region::Root& root : region_.roots) add(root.strides, node(root.instance).dtype);
    const double lines = static_cast<double>(region_.lines().values[0]) * splits_;
    const double blocks = walk_ == Walk::columns ? lines / 32 : team_.empty() ? lines : 264;
    // Two blocks on each of 132 multiprocessors keep the memory busy.
    const bool busy = walk_ == Walk::pointwise || bytes < 1e6;
    file_.traffic(bytes, 0, busy ? 1 : std::clamp(blocks / 264, 1.0 / 264, 1.0));
    int operations = 0;
    for (const Instance& instance : region_.instances) operations += instance.leaf ? 0 : 1;
    if (operations > 1)
      file_.technique(
          "fusion",
          fmt::format("`{}` computes {} operations in one kernel, so that no intermediate result goes to memory.",
                      name_, operations));
    if (vectorised())
      file_.technique("vectorisation", fmt::format("`{}` reads and writes {} elements per access where rows are "
                                                   "aligned, element by element at ragged edges.",
                                                   name_, vec_));
    if (walk_ == Walk::pointwise && !rows_per_block_)
      file_.technique(
          "memory parallelism",
          fmt::format("Every thread of `{}` has {} independent accesses in flight before it computes.", name_, items_));
    if (cached_ && last_phase_ > 1)
      file_.technique("register caching",
                      fmt::format("A row stays in registers between the {} passes of `{}`, so memory sees it once.",
                                  last_phase_ + 1, name_));
    if (!team_.empty())
      file_.technique("block teams",
                      fmt::format("{} blocks hold a row of `{}` in their registers together and exchange what they reduce "
                                  "through memory, in a fixed order.",
                                  team_, name_));
    if (region_.reduces)
      file_.technique(
          walk_ == Walk::columns ? "coalescing" : "parallel reduction",
          walk_ == Walk::columns
              ? fmt::format("Neighbouring threads of `{}` read neighbouring addresses; each line is reduced through "
                            "shared memory.",
                            name_)
              : fmt::format("`{}` gives a row to several warps, reduced by shuffles and once through shared memory.",
                            name_));
    if (file_.style().stream && vectorised())
      file_.technique("streaming accesses", "Data that is touched once is marked to leave the caches first.");
    if (splits_ > 1)
      file_.technique(
          "split reduction",
          fmt::format("{} blocks share a line; a second kernel adds their parts in a fixed order, without atomics.",
                      splits_));
  }

  const Region& region_;
  const Dag& dag_;
  Walk walk_;
  KernelFile& file_;
  int splits_;

  std::string width_;                            // lines of a block that walks columns
  std::string team_, blocks_, parts_, arrived_;  // of several blocks to a line; empty: one is enough
  int exchanged_ = 0;
  std::set<int> passing_;  // leaves that the present pass loads in passing
  std::string name_, threads_, items_, columns_, lines_, index_, line_index_, lane_, body_;
  int vec_ = 1, last_phase_ = 0, indent_ = 2;
  std::int64_t most_columns_ = 1;
  bool cached_ = false, rows_per_block_ = false, has_lines_ = true;
  Arguments arguments_;
  std::vector<std::string> names_, line_at_;
  std::set<int> kept_later_;
  std::vector<int> kept_here_;
  std::map<int, int> first_pass_;
};

}  // namespace

Walk walk_of(const Region& region, const Dag& dag) {
  if (!region.reduces) return Walk::pointwise;
  // The largest operand decides.
  double most = -1;
  bool neighbours = true;
  for (const Instance& instance : region.instances) {
    if (!instance.leaf || instance.buffer.empty() || instance.level != Level::element) continue;
    double elements = 1;
    for (const tensor::Extent& extent : dag.nodes[static_cast<std::size_t>(instance.node)].shape)
      elements *= static_cast<double>(extent.values[0]);
    if (elements <= most) continue;
    most = elements;
    for (std::size_t i = 0; i < region.space.size(); ++i)
      if (region.element[i]) neighbours = is_one(instance.strides[i]);  // of the last element dimension
  }
  return neighbours ? Walk::rows : Walk::columns;
}

int splits_of(const Region& region, Walk walk) {
  int reduces = 0;
  for (const Instance& instance : region.instances) reduces = std::max(reduces, instance.phase);
  const std::int64_t lines = region.lines().values[0], elements = region.elements().values[0];
  const std::int64_t blocks = walk == Walk::columns ? (lines + 31) / 32 : lines;
  const std::int64_t least = walk == Walk::columns ? 64 : 8192;  // elements that a split should keep
  if (blocks >= 264 || elements < 2 * least) return 1;
  const std::int64_t wanted = std::min<std::int64_t>((1056 + blocks - 1) / blocks, elements / least);
  return static_cast<int>(std::max<std::int64_t>(1, wanted));
}

void write_line_kernel(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits) {
  LineWriter(region, dag, walk, file, splits).write();
  file.end_family();
}

}  // namespace cudal1::playbook
