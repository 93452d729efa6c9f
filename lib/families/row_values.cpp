// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include "families/epilogue.hpp"

namespace cudal1::families {

void RowWriter::load(int id, const std::string& to, const std::string& column) {
  const Instance& instance = at(id);
  const std::string& name = names_[id];
  const char* once = this->once() && layout_.varies_by_row(instance.strides) ? "_once" : "";
  if (layout_.unit_stride(instance.strides))
    return line(fmt::format("{} = load{}<{}, VEC>({}_line + {}, {} - {});", to, once, whole(), name, column, columns_, column));
  const bool same = layout_.same_in_pack(instance.strides), packs = vectorised() && layout_.in_packs(instance.strides);
  const std::string where = element_offset(instance.strides, column), beyond = fmt::format("{} - {}", columns_, column);
  if (same || packs) line("if (WHOLE) {");
  if (packs) {
    line(fmt::format("  {} = load{}<true, VEC>({}_line + {}, {});", to, once, name, in_parentheses(where), beyond));
  } else if (same) {
    line(fmt::format("  const auto same = {0} < {1} ? {2}_line[{3}] : {2}_line[0];", column, columns_, name, where));
    line("#pragma unroll");
    line(fmt::format("  for (int i = 0; i < VEC; ++i) {}.at[i] = same;", to));
  }
  if (same || packs) line("} else {");
  line("#pragma unroll");
  line("for (int i = 0; i < VEC; ++i)");
  line(fmt::format("  if ({0} + i < {1}) {2}.at[i] = {3}_line[{4}];", column, columns_, to, name,
                   element_offset(instance.strides, "(" + column + " + i)")));
  if (same || packs) line("}");
}

// The value of an instance at one element, as a name; writes the statements that it takes.
std::string RowWriter::value(int id, int phase, Spot& spot) {
  const Instance& instance = at(id);
  const Node& from = node(id);
  if (const auto found = spot.known.find(id); found != spot.known.end()) return found->second;
  if (instance.level == Level::row) return names_[id];
  if (instance.leaf && from.is<Coordinate>()) {
    line(declared(from, fmt::format("v{}", id), converted(compute_type(from.dtype), element_offset(instance.strides, spot.element))));
    return spot.known[id] = fmt::format("v{}", id);
  }
  if (instance.leaf) {
    const std::string& name = names_[id];
    std::string text;
    const bool pack = beside() && layout_.varies_beside(instance.strides);
    if (walk_ == Walk::columns)
      text = spot.cached ? fmt::format("{}_kept[item]{}", name, pack ? ".at[i]" : "")
                         : fmt::format("{}_line[{}{}]", name, element_offset(instance.strides, spot.element), pack ? " + i" : "");
    else
      text = spot.cached && passing_.count(id) == 0 ? fmt::format("{}_kept[item].at[i]", name)
                                                     : fmt::format("{}_pack.at[i]", name);
    line(fmt::format("const {0} v{1} = {2};", compute_type(from.dtype), id,
                     compute_type(from.dtype) == tensor::cuda_name(from.dtype)
                         ? text
                         : converted(compute_type(from.dtype), text)));
    return spot.known[id] = fmt::format("v{}", id);
  }
  const bool kept = spot.cached && passes_.keepable(id) && kept_later_.count(id) != 0;
  const std::string place = fmt::format("k{}[item]{}", id, walk_ == Walk::columns && !beside() ? "" : ".at[i]");
  if (kept && passes_.first.at(id) < phase) {
    line(fmt::format("const {} v{} = {}{};", compute_type(from.dtype), id, place, meets_once() && id == meeting_.powers ? " * again" : ""));
    return spot.known[id] = fmt::format("v{}", id);
  }
  line(statement(id, [&](int operand) { return value(operand, phase, spot); }));
  if (kept) line(fmt::format("{} = v{};", place, id));
  return spot.known[id] = fmt::format("v{}", id);
}

std::string RowWriter::statement(int id, const std::function<std::string(int)>& operand_of) {
  return declared(node(id), fmt::format("v{}", id), computed(id, operand_of));
}

std::string RowWriter::computed(int id, const std::function<std::string(int)>& operand_of) {
  std::vector<Operand> operands;
  for (int operand : at(id).operands) operands.push_back({node(operand), operand_of(operand)});
  return applied(node(id), operands);
}

// Row-level values that become known with `phase`.
void RowWriter::line_values(int phase) {
  for (int id = 0; id < region_.count(); ++id) {
    const Instance& instance = at(id);
    if (instance.indirect >= 0 && instance.phase == phase) read_indirect(id);
    if (instance.leaf || instance.level != Level::row || instance.phase != phase || node(id).is<Reduce>())
      continue;
    const auto known = [&](int operand) { return names_[operand]; };
    if (beside()) {
      line(fmt::format("Pack<{}, VEC> v{};", compute_type(node(id).dtype), id));
      each_line(fmt::format("v{}.at[i] = {};", id, computed(id, known)));
    } else line(statement(id, known));
  }
}

// Everything that one pass does with one element.
void RowWriter::element(int phase, Spot spot) {
  std::vector<std::pair<int, std::string>> sums;
  for (int id = 0; id < region_.count(); ++id) {
    if (passes_.reducing(phase, id)) sums.emplace_back(id, value(at(id).operands[0], phase, spot));
  }
  if (!sums.empty()) {
    const auto take = [&] {
      for (const auto& [id, text] : sums) {
        const Node& reduce = node(id);
        const std::string place = fmt::format("acc{}{}", id, beside() ? ".at[i]" : "");
        if (finds_index(reduce))
          line(fmt::format("{}::take(acc{}, {}, {});", first(reduce), id, text, converted(index_, spot.element)));
        else if (reduce.reduces("sum") || reduce.reduces("prod"))
          line(fmt::format("{} {}= {};", place, reduce.reduces("sum") ? "+" : "*", text));
        else
          line(fmt::format("{0} = {1}({0}, {2});", place, combine(reduce), converted(accumulator_type(id), text)));
      }
    };
    if (walk_ == Walk::columns && !spot.cached) take();
    else scope(fmt::format("if ({} < {}) {{", vectorised() ? fmt::format("{} + (WHOLE ? 0 : i)", spot.column) : spot.element, columns_), take);
  }
  if (phase != passes_.last() || splits_ > 1) return;
  for (std::size_t r = 0; r < region_.roots.size(); ++r) {
    const Region::Root& root = region_.roots[r];
    if (!layout_.varies_in_row(root.strides)) continue;
    const std::string text = value(root.instance, phase, spot);
    const std::string to_memory = stored(node(root.instance).dtype, text);
    if (walk_ == Walk::columns && !beside())
      line(fmt::format("if (live{}) out{}_line[{}] = {};", spot.cached ? " && column < " + columns_ : "", r,
                       element_offset(root.strides, spot.element), to_memory));
    else line(fmt::format("out{}.at[i] = {};", r, to_memory));
  }
}

void RowWriter::stores(const std::string& column) {
  for (std::size_t r = 0; r < region_.roots.size(); ++r) {
    const Region::Root& root = region_.roots[r];
    if (!layout_.varies_in_row(root.strides)) continue;
    if (beside()) {
      line(fmt::format("if (live && {0} < {1}) *reinterpret_cast<decltype(out{2})*>(out{2}_line + {3}) = out{2};", column, columns_, r, in_parentheses(element_offset(root.strides, column))));
      continue;
    }
    const bool always = walk_ == Walk::pointwise || persistent();
    const std::string live = always ? "" : "if (live) ";
    if (layout_.unit_stride(root.strides)) {
      line(fmt::format("{}store{}<{}, VEC>(out{}_line + {}, out{}, {} - {});", live,
                       once() ? "_once" : "", whole(), r, column, r, columns_, column));
      continue;
    }
    const bool packs = vectorised() && layout_.in_packs(root.strides);
    if (packs) {
      line("if (WHOLE) {");
      line(fmt::format("  {}store{}<true, VEC>(out{}_line + {}, out{}, {} - {});", live, once() ? "_once" : "", r,
                       in_parentheses(element_offset(root.strides, column)), r, columns_, column));
      line("} else {");
    }
    line("#pragma unroll");
    line("for (int i = 0; i < VEC; ++i)");
    line(fmt::format("  if ({}{} + i < {}) out{}_line[{}] = out{}.at[i];", always ? "" : "live && ", column, columns_, r,
                     element_offset(root.strides, "(" + column + " + i)"), r));
    if (packs) line("}");
  }
}

void RowWriter::pack_loop(int phase, const Spot& spot) {
  const bool writes = phase == passes_.last() && splits_ == 1;
  if (writes)
    for (std::size_t r = 0; r < region_.roots.size(); ++r)
      if (layout_.varies_in_row(region_.roots[r].strides))
        line(fmt::format("Pack<{}, VEC> out{};", tensor::cuda_name(node(region_.roots[r].instance).dtype), r));
  line("#pragma unroll");
  scope("for (int i = 0; i < VEC; ++i) {", [&] { element(phase, spot); });
  if (writes) stores(spot.column);
}

std::string RowWriter::column_of_item() const {
  if (walk_ == Walk::columns) return fmt::format("item * {} + {}(threadIdx.y)", threads_, conversion(index_));
  if (walk_ == Walk::pointwise) return fmt::format("start + item * {} * VEC", threads_);
  if (!team_.empty())
    return fmt::format("((item * {} + rank) * {} + {}(threadIdx.x)) * VEC", team_, threads_, conversion(index_));
  return fmt::format("(item * {} + {}(threadIdx.x)) * VEC", threads_, conversion(index_));
}
}  // namespace cudal1::families
