// SPDX-License-Identifier: Apache-2.0
#include "families/row_writer.hpp"

#include <fmt/format.h>

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
  for (std::size_t i = 0; i < region_.instances.size(); ++i) {
    const int id = static_cast<int>(i);
    if (!passes_.reducing(phase, id)) continue;
    std::string call = walk_ == Walk::columns
                                 ? fmt::format("reduce_column<{}, {}>(acc{}, {})", threads_, width_, id, combine(node(id)))
                                 : fmt::format("reduce_row<{}, ROWS>(acc{}, {})", threads_, id, combine(node(id)));
    if (beside()) {
      line(fmt::format("const Pack<{}, VEC> v{} = reduce_column<{}, {}>(acc{}, Each<{}>());", compute_type(node(id).dtype), id, threads_,
                       lanes(), id, combination(node(id))));
      names_[i] = fmt::format("v{}.at[i]", id);
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
    names_[i] = fmt::format("v{}", id);
  }
  if (!meets_once()) return;
  if (phase == 0) stand_in();
  if (phase == 1) {
    give();
    if (trails()) come_back();
    take();
  }
}
}  // namespace cudal1::families
