// SPDX-License-Identifier: Apache-2.0
// The fourteen comparisons of a floating type.
#pragma once

#include "sim/elementwise.ipp"

namespace cudal1::sim {
namespace {

// Names the ordered and unordered comparisons of a floating type; `load` turns an operand into its value.
template <class T, class Load>
void comparison_rows(const Adder& add, const std::string& tail, Load) {
  add("setp.eq" + tail, [](T a, T b) -> bool { return Load{}(a) == Load{}(b); });
  add("setp.ne" + tail, [](T a, T b) -> bool { const auto x = Load{}(a), y = Load{}(b); return (x < y) | (x > y); });
  add("setp.lt" + tail, [](T a, T b) -> bool { return Load{}(a) < Load{}(b); });
  add("setp.le" + tail, [](T a, T b) -> bool { return Load{}(a) <= Load{}(b); });
  add("setp.gt" + tail, [](T a, T b) -> bool { return Load{}(a) > Load{}(b); });
  add("setp.ge" + tail, [](T a, T b) -> bool { return Load{}(a) >= Load{}(b); });
  add("setp.equ" + tail, [](T a, T b) -> bool { const auto x = Load{}(a), y = Load{}(b); return !((x < y) | (x > y)); });
  add("setp.neu" + tail, [](T a, T b) -> bool { return Load{}(a) != Load{}(b); });
  add("setp.ltu" + tail, [](T a, T b) -> bool { return !(Load{}(a) >= Load{}(b)); });
  add("setp.leu" + tail, [](T a, T b) -> bool { return !(Load{}(a) > Load{}(b)); });
  add("setp.gtu" + tail, [](T a, T b) -> bool { return !(Load{}(a) <= Load{}(b)); });
  add("setp.geu" + tail, [](T a, T b) -> bool { return !(Load{}(a) < Load{}(b)); });
  add("setp.num" + tail, [](T a, T b) -> bool { const auto x = Load{}(a), y = Load{}(b); return (x == x) & (y == y); });
  add("setp.nan" + tail, [](T a, T b) -> bool { const auto x = Load{}(a), y = Load{}(b); return (x != x) | (y != y); });
}

}  // namespace
}  // namespace cudal1::sim
