// SPDX-License-Identifier: Apache-2.0
#include "search/model_choice.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::search {

namespace {

// Of a bound whose gain is at most 1: half of UCB1's, because a round of a few samples is all there is.
constexpr double exploration = 0.5;
constexpr double cheapest = 0.05;

double tokens(const model::Usage& usage) { return static_cast<double>(usage.input_tokens + usage.output_tokens); }

// What one reply of each model costs, as a share of the dearest; 1 where nothing is known.
std::vector<double> prices(const std::vector<ModelRecord>& records) {
  const bool dollars = std::all_of(records.begin(), records.end(), [](const ModelRecord& record) { return record.usage.priced; });
  std::vector<double> list;
  for (const auto& record : records)
    list.push_back(record.replies == 0 ? 0 : (dollars ? record.usage.cost : tokens(record.usage)) / record.replies);
  const double dearest = *std::max_element(list.begin(), list.end());
  for (std::size_t index = 0; index < list.size(); ++index) {
    const bool known = dearest > 0 && records[index].replies > 0;
    list[index] = known ? std::max(list[index] / dearest, cheapest) : 1;
  }
  return list;
}

}  // namespace

std::size_t choose_model(const std::vector<ModelRecord>& records) {
  const auto price = prices(records);
  double all = 0, most = 0;
  for (const auto& record : records) {
    all += record.asked;
    if (record.replies > 0) most = std::max(most, record.gain / record.replies);
  }
  std::size_t chosen = 0;
  double highest = -1;
  for (std::size_t index = 0; index < records.size(); ++index) {
    const auto& record = records[index];
    if (record.exhausted) continue;
    if (record.asked == 0) return index;
    const double mean = most > 0 && record.replies > 0 ? record.gain / record.replies / most : 0;
    const double bound = mean + exploration * std::sqrt(2 * std::log(1 + all) / record.asked);
    if (bound / std::sqrt(price[index]) <= highest) continue;
    highest = bound / std::sqrt(price[index]);
    chosen = index;
  }
  return chosen;
}

}  // namespace cudal1::search
