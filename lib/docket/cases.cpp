// SPDX-License-Identifier: Apache-2.0
#include "docket/cases.hpp"

namespace cudal1::docket {

using outcome::Verdict;

bool by_compiling(const outcome::Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::invalid_plan:
    case Verdict::compile_failed:
    case Verdict::forbidden_code:
    case Verdict::stateful: return true;
    default: return false;
  }
}

std::optional<Cases::Known> Cases::find(const std::string& key, Mode mode) const {
  const auto found = cases_.find(key);
  if (found == cases_.end()) return std::nullopt;
  const Case& known = found->second;
  // What failed early fails later as well.
  for (const auto& [earlier, judgement] : known.by_mode)
    if (earlier < mode && judgement && !outcome::is_right(judgement->verdict)) return Known{known.first, judgement};
  // The last word counts: a final verdict over the screening before it.
  const auto& [latest, judgement] = *known.by_mode.rbegin();
  if (latest < mode) return std::nullopt;
  if (mode == Mode::compile && judgement && !by_compiling(*judgement)) return Known{known.first, std::nullopt};   // it ran, so it compiles
  return Known{known.first, judgement};
}

std::optional<outcome::Judgement> Cases::screened(const std::string& key) const {
  const auto found = cases_.find(key);
  if (found == cases_.end()) return std::nullopt;
  const auto screened = found->second.by_mode.find(Mode::screen);
  return screened == found->second.by_mode.end() ? std::nullopt : screened->second;
}

void Cases::remember(const std::string& key, Mode mode, const std::string& first, const std::optional<outcome::Judgement>& judgement) {
  const auto [place, fresh] = cases_.try_emplace(key);
  if (fresh) {
    place->second.first = first;
    order_.push_back(key);
  }
  place->second.by_mode[mode] = judgement;
  while (order_.size() > most_) {
    cases_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace cudal1::docket
