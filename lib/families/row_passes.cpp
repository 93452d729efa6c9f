// SPDX-License-Identifier: Apache-2.0
#include "families/row_passes.hpp"

#include "algebra/pointwise.hpp"

namespace cudal1::families {
namespace {

bool varies(const RowLayout& layout, const tensor::Shape& strides, bool in_row) {
  for (std::size_t i = 0; i < strides.size(); ++i)
    if ((layout.region.element[i] != 0) == in_row && !is_zero(strides[i])) return true;
  return false;
}

}  // namespace

bool RowLayout::varies_in_row(const tensor::Shape& strides) const { return varies(*this, strides, true); }

bool RowLayout::varies_by_row(const tensor::Shape& strides) const { return varies(*this, strides, false); }

int RowLayout::single_element_dim() const {
  int found = -1;
  for (std::size_t i = 0; i < region.space.size(); ++i)
    if (region.element[i]) found = found == -1 ? static_cast<int>(i) : -2;
  return found;
}

bool RowLayout::unit_stride(const tensor::Shape& strides) const {
  tensor::Extent step = literal(1, region.assignments);
  bool any = false;
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (!region.element[i] || is_one(region.space[i])) continue;
    if (!(strides[i] == step)) return false;
    step = times(region.space[i], step);
    any = true;
  }
  return any;
}

bool RowLayout::in_packs(const tensor::Shape& strides) const {
  for (std::size_t i = strides.size(); i-- > 0;)
    if (region.element[i] && !is_one(region.space[i])) return is_one(strides[i]) && (pieces || unit_stride(strides));
  return false;
}

tensor::Extent RowLayout::piece() const {
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (region.element[i] && !is_one(region.space[i])) return region.space[i];
  return literal(1, region.assignments);
}

bool RowLayout::same_in_pack(const tensor::Shape& strides) const {
  if (vec == 1 || single_element_dim() >= 0 || strides.empty()) return false;
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (region.element[i]) return is_zero(strides[i]);
  return false;
}

int RowLayout::beside_dim() const {
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (!region.element[i] && !is_one(region.space[i])) return static_cast<int>(i);
  return -1;
}

bool RowLayout::varies_beside(const tensor::Shape& strides) const {
  return !strides.empty() && !is_zero(strides[static_cast<std::size_t>(beside_dim())]);
}

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
  for (int id = 0; id < region_.count(); ++id)
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
  for (int id = 0; id < region_.count(); ++id) result += keepable(id) ? 1 : 0;
  return result;
}

Meeting meeting_of(const Region& region, const Dag& dag) {
  Meeting result;
  int reductions = 0;
  const auto node = [&](int id) -> const Node& { return dag.at(region.at(id).node); };
  const auto computes = [&](int id, const char* function) { return !region.at(id).leaf && node(id).computes(function); };
  for (int id = 0; id < region.count(); ++id) {
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
