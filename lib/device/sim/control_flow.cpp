// SPDX-License-Identifier: Apache-2.0
#include "sim/control_flow.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::sim {

// Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm", on the reversed graph.
std::vector<std::uint32_t> post_dominators(const std::vector<std::vector<std::uint32_t>>& successors) {
  const auto exit = static_cast<std::uint32_t>(successors.size());
  constexpr std::uint32_t unknown = ~std::uint32_t{0};
  std::vector<std::vector<std::uint32_t>> predecessors(exit + 1);
  for (std::uint32_t node = 0; node < exit; ++node) {
    for (const std::uint32_t next : successors[node]) predecessors[next].push_back(node);
    if (successors[node].empty()) predecessors[exit].push_back(node);
  }
  std::vector<std::uint32_t> order;
  std::vector<char> seen(exit + 1);
  std::vector<std::pair<std::uint32_t, std::size_t>> open{{exit, 0}};
  seen[exit] = 1;
  while (!open.empty()) {
    auto& [node, position] = open.back();
    if (position < predecessors[node].size()) {
      const std::uint32_t next = predecessors[node][position++];
      if (!seen[next]) seen[next] = 1, open.emplace_back(next, 0);
    } else {
      order.push_back(node);
      open.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  std::vector<std::uint32_t> number(exit + 1, unknown), dominator(exit + 1, unknown);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  dominator[exit] = exit;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = dominator[a];
      while (number[b] > number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t node : order) {
      if (node == exit) continue;
      std::uint32_t best = unknown;
      const auto consider = [&](std::uint32_t next) {
        if (dominator[next] != unknown) best = best == unknown ? next : meet(best, next);
      };
      for (const std::uint32_t next : successors[node]) consider(next);
      if (successors[node].empty()) consider(exit);
      if (best != unknown && dominator[node] != best) dominator[node] = best, changed = true;
    }
  }
  for (std::uint32_t& d : dominator)
    if (d == unknown) d = exit;
  return dominator;
}

}  // namespace cudal1::sim
