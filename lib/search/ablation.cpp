// SPDX-License-Identifier: Apache-2.0
#include "search/ablation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

// More techniques would ask for more replies than a whole search.
constexpr std::size_t most_techniques = 4;

const Variant* find(const Result& result, const std::string& id) {
  for (const auto& variant : result.variants)
    if (variant.id == id) return &variant;
  return nullptr;
}

bool names(const Variant& variant, const std::vector<std::string>& techniques) {
  return std::any_of(techniques.begin(), techniques.end(), [&](const std::string& technique) {
    return std::find(variant.techniques.begin(), variant.techniques.end(), technique) != variant.techniques.end();
  });
}

std::string problem(const Variant& winner, const Variant& without) {
  if (without.status != Variant::Status::judged && without.status != Variant::Status::duplicate)
    return fmt::format("{}: {}", name(without.status), without.reason);
  if (without.source == winner.source || without.same_as == winner.id) return "the answer is the winner itself";
  if (names(without, without.undone)) return "the answer still names it";
  const auto& judgement = without.judgement;
  if (!without.right())
    return fmt::format("{}: {}", outcome::name(judgement.verdict, judgement.predicted), judgement.message);
  if (!judgement.speedup || !winner.verdict().speedup) return "it was not timed";
  return {};
}

// Both are speed-ups over the same reference, measured apart: their errors in log score add as squares.
void measure(const Variant& winner, Factor& factor) {
  const auto &with = *winner.verdict().speedup, &without = *factor.without->judgement.speedup;
  const auto half_width = [](const outcome::Speedup& speedup) { return std::log(speedup.high / speedup.low) / 2; };
  const double mean = std::log(with.value / without.value);
  const double half = std::hypot(half_width(with), half_width(without));
  factor.value = std::exp(mean);
  factor.low = std::exp(mean - half);
  factor.high = std::exp(mean + half);
}

}  // namespace

std::vector<std::vector<std::string>> undo_sets(const std::vector<std::string>& techniques) {
  const std::size_t count = std::min(techniques.size(), most_techniques);
  std::vector<std::vector<std::string>> sets;
  for (std::size_t a = 0; a < count; ++a) sets.push_back({techniques[a]});
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b) sets.push_back({techniques[a], techniques[b]});
  return sets;
}

std::optional<Ablation> ablation(const Result& result) {
  const auto last = std::find_if(result.variants.rbegin(), result.variants.rend(),
                                 [](const Variant& variant) { return !variant.reverts.empty(); });
  if (last == result.variants.rend()) return std::nullopt;
  Ablation ablation;
  ablation.winner = find(result, last->reverts);
  if (ablation.winner == nullptr) return std::nullopt;
  for (const auto& variant : result.variants) {
    if (variant.reverts != ablation.winner->id) continue;
    Factor factor{variant.undone, &variant, problem(*ablation.winner, variant)};
    if (factor.problem.empty()) measure(*ablation.winner, factor);
    (variant.undone.size() == 1 ? ablation.single : ablation.pairs).push_back(std::move(factor));
  }
  return ablation;
}

std::string_view name(Together together) {
  switch (together) {
    case Together::multiply: return "multiply";
    case Together::need: return "need";
    case Together::replace: return "replace";
    case Together::unknown: return "unknown";
  }
  return "";
}

Together Ablation::together(const Factor& pair) const {
  double mean = 0, variance = 0;
  const auto half = [](const Factor& factor) { return std::log(factor.high / factor.low) / 2; };
  for (const auto& technique : pair.techniques) {
    const auto alone = std::find_if(single.begin(), single.end(),
                                    [&](const Factor& factor) { return factor.techniques.front() == technique; });
    if (alone == single.end() || !alone->problem.empty() || !pair.problem.empty()) return Together::unknown;
    mean += std::log(alone->value);
    variance += half(*alone) * half(*alone);
  }
  const double difference = std::log(pair.value) - mean;
  if (std::abs(difference) <= std::sqrt(variance + half(pair) * half(pair))) return Together::multiply;
  return difference < 0 ? Together::need : Together::replace;
}

}  // namespace cudal1::search
