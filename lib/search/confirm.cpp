// SPDX-License-Identifier: Apache-2.0
#include "search/rounds.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::search {

namespace {

// Variants worth a final verdict: right and not known to be slower; where there is no time to beat, right.
std::vector<std::size_t> candidates(const std::vector<Variant>& variants, bool unbeaten) {
  std::vector<std::size_t> list;
  for (std::size_t index = 0; index < variants.size(); ++index) {
    const auto& variant = variants[index];
    if (unbeaten ? variant.status == Variant::Status::judged && variant.right() : may_win(variant)) list.push_back(index);
  }
  std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-variants[a].judgement.score(), a) < std::pair(-variants[b].judgement.score(), b);
  });
  return list;
}

std::optional<std::size_t> best_right(const std::vector<Variant>& variants) {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < variants.size(); ++index)
    if (variants[index].score() > (best ? variants[*best].score() : 0)) best = index;
  return best;
}

}  // namespace

bool confirm_best(Result& result, Referee& referee, const Options& options, Observer& observer, const Recall& recall,
                  const std::stop_token& stop) {
  int tries = 0;
  bool complete = true;
  const bool unbeaten = result.start.reference.times.empty();
  for (const auto index : candidates(result.variants, unbeaten)) {
    auto& variant = result.variants[index];
    const bool known = variant.confirmation.has_value();  // by an earlier call
    if (!known) variant.confirmation = recall.confirmation(variant.id);
    if (!variant.confirmation) {
      if (stop.stop_requested() || tries == options.confirmations) {
        complete = false;
        break;
      }
      observer.confirming(variant);
      variant.confirmation = referee.confirm(variant.source, variant.id + ".cu", variant.judgement.tunables);
    }
    ++tries;
    if (!known) observer.confirmed(variant);
    const auto verdict = variant.confirmation->verdict;
    if (verdict == outcome::Verdict::faster || (unbeaten && outcome::is_right(verdict))) {
      result.best_index = index;
      return true;
    }
  }
  result.best_index = best_right(result.variants);
  return complete;
}

}  // namespace cudal1::search
