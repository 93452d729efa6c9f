// SPDX-License-Identifier: Apache-2.0
#include "search/race.hpp"

#include "outcome/speedup_text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

double half_width(const outcome::Speedup& speedup) { return 0.5 * std::log(speedup.high / speedup.low); }

bool may_race(const Variant& variant) {
  return may_win(variant) && !variant.judgement.predicted && variant.judgement.speedup->low > 0;
}

}  // namespace

bool may_win(const Variant& variant) {
  const auto verdict = variant.judgement.verdict;
  return variant.status == Variant::Status::judged && variant.judgement.score() > 1 &&
         (verdict == outcome::Verdict::faster || verdict == outcome::Verdict::inconclusive);
}

std::vector<std::size_t> contenders(const std::vector<Variant>& variants, std::size_t first) {
  std::vector<std::size_t> list;
  std::optional<std::size_t> before;
  for (std::size_t index = 0; index < variants.size(); ++index) {
    if (!may_race(variants[index])) continue;
    if (index >= first) list.push_back(index);
    else if (!before || variants[index].judgement.score() > variants[*before].judgement.score()) before = index;
  }
  if (list.empty()) return {};
  if (before) list.insert(list.begin(), *before);
  const auto best = *std::max_element(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
    return variants[a].judgement.score() < variants[b].judgement.score();
  });
  std::erase_if(list, [&](std::size_t index) { return variants[index].judgement.speedup->high < variants[best].judgement.speedup->low; });
  return list.size() > 1 ? list : std::vector<std::size_t>();
}

Race placed(int round, const judge::Race& race, const std::vector<std::size_t>& contenders,
            const std::vector<Variant>& variants, std::size_t first) {
  Race result;
  result.round = round;
  result.seconds = race.seconds;
  result.problem = race.problem;
  if (race.standings.empty()) return result;
  const bool anchored = contenders.front() < first;
  // Of the fastest: the logarithm of its speed-up, and how sure it is.
  double level = 0, width = 0;
  const std::size_t count = anchored ? 1 : contenders.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& screened = *variants[contenders[i]].judgement.speedup;
    level += (std::log(screened.value) - std::log(race.standings[i].over_fastest.value)) / static_cast<double>(count);
    width = std::hypot(width, half_width(screened) / static_cast<double>(count));
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const auto& standing = race.standings[i];
    const auto& variant = variants[contenders[i]];
    // Who left early was surely behind, whatever its few turns say of the difference.
    const double mean = level + std::min(0.0, std::log(standing.over_fastest.value));
    const double half = std::hypot(width, half_width(standing.over_fastest));
    Race::Racer racer{variant.id, standing.over_fastest, standing.turns, {std::exp(mean), std::exp(mean - half), std::exp(mean + half)}};
    if (anchored && i == 0) racer.speedup = *variant.judgement.speedup;
    result.racers.push_back(std::move(racer));
  }
  const std::string fastest = variants[contenders[race.fastest]].id;
  std::stable_sort(result.racers.begin(), result.racers.end(), [&](const Race::Racer& a, const Race::Racer& b) {
    return std::pair(a.id == fastest, a.over_fastest.value) > std::pair(b.id == fastest, b.over_fastest.value);
  });
  return result;
}

void rescore(const Race& race, std::vector<Variant>& variants) {
  if (race.racers.empty()) return;
  const auto& fastest = race.racers.front();
  for (const auto& racer : race.racers) {
    for (auto& variant : variants) {
      if (variant.id != racer.id && variant.same_as != racer.id) continue;
      if (!variant.judgement.speedup || variant.judgement.speedup->value == racer.speedup.value) continue;  // of an earlier race
      variant.judgement.message = fmt::format(
          "{} over the reference: {} of {}; screened alone: {}", outcome::text(racer.speedup),
          racer.id == fastest.id ? std::string("the fastest in a race")
                                 : fmt::format("{} over {}, the fastest in a race", outcome::text(racer.over_fastest), fastest.id),
          race.racers.size(), outcome::text(*variant.judgement.speedup));
      variant.judgement.speedup = racer.speedup;
    }
  }
}

}  // namespace cudal1::search
