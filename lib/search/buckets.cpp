// SPDX-License-Identifier: Apache-2.0
#include "search/buckets.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudal1::search {

namespace {

// Softmax over the means; the largest is taken out first so that no exponential overflows.
void weigh(std::vector<Bucket>& list, double tau) {
  double top = -HUGE_VAL, sum = 0;
  for (const auto& bucket : list) top = std::max(top, bucket.mean);
  for (auto& bucket : list) sum += bucket.probability = std::exp((bucket.mean - top) / tau);
  for (auto& bucket : list) bucket.probability /= sum;
}

std::size_t pick(const std::vector<Bucket>& list, base::Random& random) {
  double left = random.uniform();
  for (std::size_t index = 0; index + 1 < list.size(); ++index) {
    left -= list[index].probability;
    if (left < 0) return index;
  }
  return list.size() - 1;
}

}  // namespace

std::vector<Bucket> buckets(const std::vector<double>& scores, double tau, double width) {
  std::map<long long, Bucket> by_index;
  for (std::size_t index = 0; index < scores.size(); ++index)
    by_index[static_cast<long long>(std::floor(std::log(scores[index]) / width))].members.push_back(index);
  std::vector<Bucket> list;
  for (auto& [_, bucket] : by_index) {
    for (const auto member : bucket.members) bucket.mean += std::log(scores[member]);
    bucket.mean /= static_cast<double>(bucket.members.size());
    list.push_back(std::move(bucket));
  }
  if (!list.empty()) weigh(list, tau);
  return list;
}

std::vector<std::size_t> draw(const std::vector<double>& scores, std::size_t count, double tau, double width,
                              base::Random& random) {
  auto list = buckets(scores, tau, width);
  std::vector<std::size_t> drawn;
  while (drawn.size() < count && !list.empty()) {
    const auto chosen = pick(list, random);
    const auto& members = list[chosen].members;
    drawn.push_back(members[random.below(members.size())]);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(chosen));
    if (!list.empty()) weigh(list, tau);
  }
  std::vector<std::size_t> left;
  for (std::size_t index = 0; index < scores.size(); ++index)
    if (std::find(drawn.begin(), drawn.end(), index) == drawn.end()) left.push_back(index);
  while (drawn.size() < count && !left.empty()) {
    const auto chosen = static_cast<std::ptrdiff_t>(random.below(left.size()));
    drawn.push_back(left[static_cast<std::size_t>(chosen)]);
    left.erase(left.begin() + chosen);
  }
  return drawn;
}

}  // namespace cudal1::search
