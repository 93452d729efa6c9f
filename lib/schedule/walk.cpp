// SPDX-License-Identifier: Apache-2.0
#include "schedule/walk.hpp"

#include <algorithm>

namespace cudal1::schedule {

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
