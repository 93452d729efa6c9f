// SPDX-License-Identifier: Apache-2.0
#include "task/check_sizes.hpp"

#include <algorithm>
#include <array>

namespace cudal1::task {

namespace {

constexpr std::int64_t keep_up_to = 8;

std::int64_t next_multiple(std::int64_t value, const std::string& name, const kernel::SizeRules& rules) {
  const auto found = rules.multiple_of.find(name);
  if (found == rules.multiple_of.end()) return value;
  return (value + found->second - 1) / found->second * found->second;
}

}  // namespace

std::vector<std::map<std::string, std::int64_t>> ragged_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules) {
  // Neither multiples of a warp nor of each other; the second proposal turns the order round, so that no kernel is
  // right only because one extent exceeds another.
  constexpr std::array<std::int64_t, 6> extents{33, 70, 45, 19, 101, 26};
  std::vector<std::map<std::string, std::int64_t>> proposals;
  if (declared.values.empty()) return proposals;
  for (const bool reversed : {false, true}) {
    std::map<std::string, std::int64_t> sizes;
    std::size_t next = 0;
    for (const auto& [name, expression] : declared.values) {
      if (!expression.names().empty()) continue;  // derived: follows from the others
      const auto value = expression.evaluate_integer({});
      if (!value) continue;
      const auto ragged = extents[(reversed ? extents.size() - 1 - next : next) % extents.size()];
      sizes[name] = *value <= keep_up_to || rules.kept.contains(name) ? *value : std::min(*value, next_multiple(ragged, name, rules));
      next = (next + 1) % extents.size();
    }
    proposals.push_back(std::move(sizes));
  }
  return proposals;
}

std::map<std::string, std::int64_t> next_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, expression] : declared.values) {
    if (!expression.names().empty()) continue;
    if (const auto value = expression.evaluate_integer({})) sizes[name] = *value <= keep_up_to || rules.kept.contains(name) ? *value : next_multiple(*value + 1, name, rules);
  }
  return sizes;
}

}  // namespace cudal1::task
