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

struct Literal {
  std::string name;
  std::int64_t value;
};

// The sizes that are given as numbers; the others follow from them.
std::vector<Literal> literals(const kernel::Assignment& declared) {
  std::vector<Literal> result;
  for (const auto& [name, expression] : declared.values)
    if (expression.names().empty())
      if (const auto value = expression.evaluate_integer({})) result.push_back({name, *value});
  return result;
}

}  // namespace

std::vector<std::map<std::string, std::int64_t>> ragged_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules) {
  // Neither multiples of a warp nor of each other; the second proposal turns the order round, so that no kernel is
  // right only because one extent exceeds another. The product of four and more sizes has to stay small.
  constexpr std::array<std::int64_t, 6> of_few{33, 70, 45, 19, 101, 26}, of_many{11, 18, 13, 9, 21, 10};
  const auto sizes = literals(declared);
  if (declared.values.empty()) return {};
  const auto free = [&](const Literal& size) { return size.value > keep_up_to && !rules.kept.contains(size.name); };
  const auto& extents = std::count_if(sizes.begin(), sizes.end(), free) < 4 ? of_few : of_many;
  std::vector<std::map<std::string, std::int64_t>> proposals(2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t place = i % extents.size();
    for (const bool reversed : {false, true}) {
      const std::int64_t ragged = extents[reversed ? extents.size() - 1 - place : place];
      proposals[reversed ? 1 : 0][sizes[i].name] = free(sizes[i]) ? std::min(sizes[i].value, next_multiple(ragged, sizes[i].name, rules)) : sizes[i].value;
    }
  }
  return proposals;
}

std::map<std::string, std::int64_t> next_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, value] : literals(declared)) sizes[name] = value <= keep_up_to || rules.kept.contains(name) ? value : next_multiple(value + 1, name, rules);
  return sizes;
}

}  // namespace cudal1::task
