// SPDX-License-Identifier: Apache-2.0
#include "playbook/choice.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace cudal1::playbook {
namespace {

// A candidate that should take this many times as long as was expected of the fastest one is not worth its measurement.
constexpr double hopeless = 2;

bool named_in(const std::string& hint, const Candidate& candidate) {
  if (hint.empty()) return false;
  return hint.find(candidate.id) != std::string::npos ||
         std::any_of(candidate.techniques.begin(), candidate.techniques.end(),
                     [&](const auto& technique) { return hint.find(technique.name()) != std::string::npos; });
}

}  // namespace

std::string candidate_id(const std::string& source) {
  constexpr std::string_view mark = "// playbook: ";
  const std::size_t start = source.find(mark);
  if (start == std::string::npos) return "";
  const std::size_t end = source.find('\n', start);
  return source.substr(start + mark.size(), end == std::string::npos ? end : end - start - mark.size());
}

std::optional<std::size_t> choose(const std::vector<Candidate>& candidates, const model::Question& question) {
  std::map<std::string, double> scores;
  for (const model::Exemplar& tried : question.earlier)
    if (const std::string id = candidate_id(tried.source); !id.empty())
      scores[id] = std::max(scores[id], tried.judgement.score());
  double best = 0, limit = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const auto found = scores.find(candidate.id);
    if (found != scores.end() && found->second > best)
      best = found->second, limit = hopeless * expected_seconds(candidate, question.device);
  }
  std::vector<std::size_t> open;
  for (const bool hinted : {true, false})
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& candidate = candidates[i];
      if (named_in(question.hint, candidate) != hinted || scores.count(candidate.id) != 0 || candidate.only_repairs) continue;
      if (hinted || expected_seconds(candidate, question.device) <= limit) open.push_back(i);
    }
  // Where nothing is known of earlier rounds, the order alone keeps answers apart.
  const int before = question.earlier.empty() ? std::max(question.key.round - 1, 0) * std::max(question.samples, question.key.sample) : 0;
  const auto turn = static_cast<std::size_t>(before + question.key.sample - 1);
  return turn < open.size() ? std::optional(open[turn]) : std::nullopt;
}

std::optional<std::size_t> choose_repair(const std::vector<Candidate>& candidates, const std::string& failed_id, int sample) {
  const std::string algebra = failed_id.substr(0, failed_id.find('/'));
  std::vector<std::size_t> open;
  for (const bool same : {true, false})
    for (const bool only_repairs : {true, false})
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const bool of_same = candidates[i].id.substr(0, candidates[i].id.find('/')) == algebra;
        if ((candidates[i].simple || candidates[i].only_repairs) && candidates[i].only_repairs == only_repairs && candidates[i].id != failed_id && of_same == same) open.push_back(i);
      }
  if (open.empty()) return std::nullopt;
  return open[static_cast<std::size_t>(std::max(0, sample - 1)) % open.size()];
}

std::optional<std::size_t> choose_without(const std::vector<Candidate>& candidates, const std::string& winner_id,
                                          const std::vector<std::string>& undone) {
  const auto winner = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Candidate& candidate) { return candidate.id == winner_id; });
  if (winner == candidates.end()) return std::nullopt;
  const auto taken_out = [&](const std::string& name) { return std::find(undone.begin(), undone.end(), name) != undone.end(); };
  std::optional<std::size_t> closest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& candidate = candidates[i];
    const bool lacks = std::none_of(undone.begin(), undone.end(), [&](const auto& name) { return candidate.has(name); });
    const bool keeps = std::all_of(winner->techniques.begin(), winner->techniques.end(), [&](const auto& technique) {
      return taken_out(technique.name()) || candidate.has(technique.name());
    });
    if (lacks && keeps && (!closest || candidate.techniques.size() < candidates[*closest].techniques.size())) closest = i;
  }
  return closest;
}

}  // namespace cudal1::playbook
