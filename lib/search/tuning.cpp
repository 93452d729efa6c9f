// SPDX-License-Identifier: Apache-2.0
#include "search/tuning.hpp"

#include "judge/candidate.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::search {

namespace {

constexpr std::size_t least_spread = 16;
constexpr std::size_t spread_share = 4;   // a quarter of the budget is spread before anything is known

}  // namespace

TuningOrder::TuningOrder(std::vector<kernel::Environment> family, std::size_t budget, std::uint64_t seed)
    : family_(std::move(family)), budget_(std::max<std::size_t>(budget, 1)), given_(family_.size()), random_(seed, 31) {
  const std::size_t count = exhaustive() ? family_.size() : std::min(budget_, std::max(least_spread, budget_ / spread_share));
  first_ = judge::spread(family_.size(), count);
}

void TuningOrder::give(std::size_t member, std::vector<std::size_t>& list) {
  if (given_[member]) return;
  given_[member] = true;
  ++given_count_;
  list.push_back(member);
}

std::vector<std::size_t> TuningOrder::next(std::size_t most) {
  most = std::min(most, std::min(budget_, family_.size()) - given_count_);
  std::vector<std::size_t> list;
  for (; begun_ < first_.size() && list.size() < most; ++begun_) give(first_[begun_], list);
  if (!list.empty() || most == 0) return list;
  for (auto best = scores_.rbegin(); best != scores_.rend() && best->first > 0 && list.empty(); ++best)
    for (const std::size_t member : judge::neighbours(family_, best->second))
      if (list.size() < most) give(member, list);
  if (!list.empty()) return list;
  std::vector<std::size_t> rest;
  for (std::size_t member = 0; member < family_.size(); ++member)
    if (!given_[member]) rest.push_back(member);
  for (; list.size() < most && !rest.empty(); rest.pop_back()) {
    std::swap(rest[random_.below(rest.size())], rest.back());
    give(rest.back(), list);
  }
  return list;
}

void TuningOrder::told(std::size_t member, double score) { scores_.emplace(score, member); }

}  // namespace cudal1::search
