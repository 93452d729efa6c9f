// SPDX-License-Identifier: Apache-2.0
#include "families/row_meeting.hpp"

namespace cudal1::families {

Meeting meeting_of(const Region& region, const Dag& dag) {
  Meeting result;
  int reductions = 0;
  const auto node = [&](int id) -> const Node& { return dag.at(region.at(id).node); };
  const auto computes = [&](int id, const char* function) { return !region.at(id).leaf && node(id).computes(function); };
  for (int id = 0; id < static_cast<int>(region.instances.size()); ++id) {
    if (region.at(id).leaf || !node(id).is<Reduce>()) continue;
    ++reductions;
    (region.at(id).phase == 1 ? result.first : result.second) = id;
  }
  const auto [first, second] = std::pair(result.first, result.second);
  if (reductions == 2 && first >= 0 && second >= 0 && node(second).reduces("sum")) {
    const int element = region.at(first).operands[0], summed = region.at(second).operands[0];
    const int away = computes(summed, "exp") || computes(summed, "square") ? region.at(summed).operands[0] : -1;
    if (away >= 0 && computes(away, "sub") && region.at(away).operands[0] == element) {
      const int centre = region.at(away).operands[1];
      if (computes(summed, "exp") && node(first).reduces("max") && centre == first) result.powers = summed;
      const bool scaled = (computes(centre, "div") || computes(centre, "mul")) && region.at(centre).operands[0] == first &&
                          node(region.at(centre).operands[1]).is<Number>();
      if (computes(summed, "square") && node(first).reduces("sum") && scaled) result.centre = centre;
    }
  }
  if (result.powers < 0 && result.centre < 0) result.first = -1;
  return result;
}

}  // namespace cudal1::families
