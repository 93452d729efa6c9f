// SPDX-License-Identifier: Apache-2.0
#include "families/row_passes.hpp"

#include "algebra/pointwise.hpp"

namespace cudal1::families {

RowPasses::RowPasses(const Region& region, const Dag& dag, int splits)
    : region_(region), dag_(dag), splits_(splits), last_(splits > 1 ? 0 : region.phases()) {}

int RowPasses::count() const {
  int result = 0;
  for (int phase = 0; phase <= last_; ++phase) result += targets(phase).empty() ? 0 : 1;
  return result;
}

bool RowPasses::reducing(int phase, int id) const {
  const Instance& instance = region_.at(id);
  return !instance.leaf && dag_.at(instance.node).is<Reduce>() && instance.phase == phase + 1 && (splits_ == 1 || instance.phase == 1);
}

std::vector<int> RowPasses::targets(int phase) const {
  std::vector<int> result;
  for (int id = 0; id < static_cast<int>(region_.instances.size()); ++id)
    if (reducing(phase, id) && region_.at(id).phase <= last_ + (splits_ > 1 ? 1 : 0)) result.push_back(region_.at(id).operands[0]);
  if (phase == last_ && splits_ == 1)
    for (const Region::Root& root : region_.roots)
      if (RowLayout{region_}.varies_in_row(root.strides)) result.push_back(root.instance);
  return result;
}

void RowPasses::collect(int id, int phase, bool kept, std::set<int>& leaves) const {
  const Instance& instance = region_.at(id);
  if (instance.level != Instance::Level::element) return;
  if (kept && first.count(id) != 0 && first.at(id) < phase) return;
  if (instance.leaf && !instance.buffer.empty()) leaves.insert(id);
  for (int operand : instance.operands) collect(operand, phase, kept, leaves);
}

void RowPasses::reach(int id, int phase, std::set<int>& out) const {
  if (region_.at(id).level != Instance::Level::element || (first.count(id) != 0 && first.at(id) < phase)) return;
  if (!out.insert(id).second) return;
  for (int operand : region_.at(id).operands) reach(operand, phase, out);
}

bool RowPasses::keepable(int id) const {
  const Instance& instance = region_.at(id);
  if (instance.level != Instance::Level::element) return false;
  if (instance.leaf) return !instance.buffer.empty();
  const PointwiseFunction* function = find_pointwise(dag_.at(instance.node).function());
  return function != nullptr && function->costly;
}

int RowPasses::kept_count() const {
  int result = 0;
  for (int id = 0; id < static_cast<int>(region_.instances.size()); ++id) result += keepable(id) ? 1 : 0;
  return result;
}

}  // namespace cudal1::families
