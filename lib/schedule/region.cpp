// SPDX-License-Identifier: Apache-2.0
#include "schedule/region.hpp"

#include <algorithm>

namespace cudal1::schedule {
namespace {

// A sum of zeros and of the one element whose coordinate is named, as losses of classes have it, is that element.
void pick(Region& region, const Dag& dag) {
  const auto node = [&](const Instance& instance) -> const Node& { return dag.at(instance.node); };
  const auto at = [&](int id) -> const Instance& { return region.instances[static_cast<std::size_t>(id)]; };
  const auto computes = [&](const Instance& instance, const char* function) { return !instance.leaf && node(instance).computes(function); };
  const auto along = std::find(region.element.begin(), region.element.end(), 1) - region.element.begin();
  if (!region.reduces || std::count(region.element.begin(), region.element.end(), 1) != 1) return;
  for (Instance& sum : region.instances) {
    if (sum.leaf || !node(sum).reduces("sum") || !computes(at(sum.operands[0]), "where")) continue;
    const Instance& choice = at(sum.operands[0]);
    const Instance &hit = at(choice.operands[0]), &from = at(choice.operands[1]), &otherwise = at(choice.operands[2]);
    if (!computes(hit, "eq") || !from.leaf || from.buffer.empty() || from.level != Instance::Level::element) continue;
    if (!otherwise.leaf || !node(otherwise).is<Number>() || node(otherwise).as<Number>().text != "0") continue;
    const Instance &coordinate = at(hit.operands[0]), &named = at(hit.operands[1]);
    if (!coordinate.leaf || !node(coordinate).is<Coordinate>() || coordinate.level != Instance::Level::element) continue;
    if (!named.leaf || named.buffer.empty() || named.level != Instance::Level::row) continue;
    Instance element = from;
    element.indirect = hit.operands[1];
    std::swap(element.step, element.strides[static_cast<std::size_t>(along)]);
    element.strides[static_cast<std::size_t>(along)] = literal(0, region.assignments);
    sum = std::move(element);
  }
  // Its address must arrive before it can be asked for: what the first pass loads should be on its way by then.
  const int phase = std::any_of(region.instances.begin(), region.instances.end(), [&](const Instance& instance) {
    return !instance.leaf && node(instance).is<Reduce>();
  });
  for (Instance& instance : region.instances)
    if (instance.indirect >= 0) instance.phase = phase;
  set_levels(region, dag);
}

void erase(Region& region, std::size_t i) {
  const auto at = static_cast<std::ptrdiff_t>(i);
  region.space.erase(region.space.begin() + at);
  region.element.erase(region.element.begin() + at);
  for (Instance& instance : region.instances)
    if (!instance.strides.empty()) instance.strides.erase(instance.strides.begin() + at);
  for (Region::Root& root : region.roots) root.strides.erase(root.strides.begin() + at);
}

// Whether every access walks dimension i and the next one as one.
bool merges(const Region& region, std::size_t i) {
  const auto walks = [&](const tensor::Shape& strides) {
    if (strides.empty() || (is_zero(strides[i]) && is_zero(strides[i + 1]))) return true;
    if (is_zero(strides[i]) || is_zero(strides[i + 1])) return false;
    return strides[i] == times(strides[i + 1], region.space[i + 1]);
  };
  return std::all_of(region.instances.begin(), region.instances.end(), [&](const Instance& instance) { return walks(instance.strides); }) &&
         std::all_of(region.roots.begin(), region.roots.end(), [&](const Region::Root& root) { return walks(root.strides); });
}

}  // namespace

int cast_from_half(const Dag& dag, int factor) {
  if (dag.at(factor).is<Permute>() && dag.at(factor).as<Permute>().swaps_last()) factor = dag.at(factor).operands[0];
  const Node& cast = dag.at(factor);
  if (!cast.computes("identity") || cast.dtype != tensor::Dtype::float32) return -1;
  const Node& from = dag.at(cast.operands[0]);
  const bool half = from.dtype == tensor::Dtype::float16 || from.dtype == tensor::Dtype::bfloat16;
  return half && from.shape == cast.shape ? cast.operands[0] : -1;
}

tensor::Shape strides_of(const tensor::Shape& shape, std::size_t assignments) {
  tensor::Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i)
    result.push_back(is_one(shape[i]) ? literal(0, assignments) : product_of(shape, i + 1, shape.size(), assignments));
  return result;
}

tensor::Extent Region::rows() const {
  tensor::Extent result = literal(1, assignments);
  for (std::size_t i = 0; i < space.size(); ++i)
    if (!element[i]) result = times(result, space[i]);
  return result;
}

tensor::Extent Region::columns() const {
  tensor::Extent result = literal(1, assignments);
  for (std::size_t i = 0; i < space.size(); ++i)
    if (element[i]) result = times(result, space[i]);
  return result;
}

int Region::phases() const {
  int last = 0;
  for (const Root& root : roots) last = std::max(last, instances[static_cast<std::size_t>(root.instance)].phase);
  return last;
}

void set_levels(Region& region, const Dag& dag) {
  for (Instance& instance : region.instances) {
    if (region.producer >= 0 && instance.node == region.producer) continue;
    instance.level = Instance::Level::row;
    if (instance.indirect < 0) instance.phase = 0;
    for (std::size_t i = 0; i < instance.strides.size(); ++i)
      if (region.element[i] && !is_zero(instance.strides[i])) instance.level = Instance::Level::element;
    for (int operand : instance.operands) {
      const Instance& from = region.instances[static_cast<std::size_t>(operand)];
      if (from.level == Instance::Level::element) instance.level = Instance::Level::element;
      instance.phase = std::max(instance.phase, from.phase);
    }
    if (!instance.leaf && dag.at(instance.node).is<Reduce>()) {
      instance.level = Instance::Level::row;
      ++instance.phase;
    }
  }
}

void collapse(Region& region, const Dag& dag) {
  for (std::size_t i = region.space.size(); i-- > 0;)
    if (is_one(region.space[i]) && region.space.size() > 1) {
      const bool was_last_element = !region.reduces && region.element[i] != 0;
      erase(region, i);
      if (was_last_element) region.element.back() = 1;
    }
  for (std::size_t i = region.space.size(); i-- > 1;) {
    const std::size_t left = i - 1;
    if (region.reduces && region.element[left] != region.element[i]) continue;
    if (!merges(region, left)) continue;
    region.space[i] = times(region.space[left], region.space[i]);
    erase(region, left);
  }
  set_levels(region, dag);
  pick(region, dag);
}

bool merge_from(Region& region, std::size_t first) {
  for (std::size_t i = region.space.size() - 1; i > first; --i) {
    if (!merges(region, i - 1)) return false;
    region.space[i] = times(region.space[i - 1], region.space[i]);
    erase(region, i - 1);
  }
  return true;
}

Walk walk_of(const Region& region, const Dag& dag) {
  if (!region.reduces) return Walk::pointwise;
  // The largest operand decides.
  double most = -1;
  bool neighbours = true;
  for (const Instance& instance : region.instances) {
    if (!instance.leaf || instance.buffer.empty() || instance.level != Instance::Level::element) continue;
    const double elements = volume(dag.at(instance.node).shape);
    if (elements <= most) continue;
    most = elements;
    for (std::size_t i = 0; i < region.space.size(); ++i)
      if (region.element[i]) neighbours = is_one(instance.strides[i]);  // of the last element dimension
  }
  return neighbours ? Walk::rows : Walk::columns;
}

int splits_of(const Region& region, Walk walk, const Machine& machine) {
  int reduces = 0;
  for (const Instance& instance : region.instances) reduces = std::max(reduces, instance.phase);
  const std::int64_t lines = region.rows().values[0], elements = region.columns().values[0];
  const std::int64_t blocks = walk == Walk::columns ? (lines + 31) / 32 : lines;
  const std::int64_t least = walk == Walk::columns ? 64 : 8192;  // elements that a split should keep
  // Two blocks on each multiprocessor keep the memory busy; where there are fewer, eight are made.
  if (blocks >= 2 * (walk == Walk::columns ? machine.team_multiprocessors() : machine.multiprocessors) || elements < 2 * least) return 1;
  const std::int64_t wanted = std::min<std::int64_t>((8 * machine.multiprocessors + blocks - 1) / blocks, elements / least);
  return static_cast<int>(std::max<std::int64_t>(1, wanted));
}

}  // namespace cudal1::schedule
