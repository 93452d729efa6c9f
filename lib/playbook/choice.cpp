// SPDX-License-Identifier: Apache-2.0
#include "playbook/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace cudal1::playbook {
namespace {

// A candidate that should take this many times as long as was expected of the fastest one is not worth its measurement.
constexpr double hopeless = 2;

struct Arm {
  double sum = 0;  // of log scores less the mean of all
  int tries = 0;
};

bool named_in(const std::string& hint, const Candidate& candidate) {
  if (hint.empty()) return false;
  return hint.find(candidate.id) != std::string::npos ||
         std::any_of(candidate.techniques.begin(), candidate.techniques.end(),
                     [&](const auto& technique) { return hint.find(technique.name) != std::string::npos; });
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
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto seconds = [&](std::size_t i) { return expected_seconds(candidates[i], question.device); };
  const auto hinted = [&](std::size_t i) { return named_in(question.hint, candidates[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return hinted(a) != hinted(b) ? hinted(a) : a < b; });
  if (question.earlier.empty()) {
    // Nothing is known of what was tried: the order alone keeps answers apart.
    const auto position = static_cast<std::size_t>(
        (question.key.round - 1) * std::max(question.samples, question.key.sample) + question.key.sample - 1);
    return position < order.size() ? std::optional(order[position]) : std::nullopt;
  }
  std::map<std::string, double> scores;
  for (const model::Exemplar& tried : question.earlier)
    if (const std::string id = candidate_id(tried.source); !id.empty())
      scores[id] = std::max(scores[id], tried.judgement.score());
  double mean = 0;
  for (const auto& [id, score] : scores) mean += std::log(std::max(score, 0.1)) / static_cast<double>(scores.size());
  std::map<std::string, Arm> arms;
  double best = 0, foreseen = std::numeric_limits<double>::infinity();  // the fastest so far, and what was expected of it
  for (const Candidate& candidate : candidates) {
    const auto found = scores.find(candidate.id);
    if (found == scores.end()) continue;
    if (found->second > best) best = found->second, foreseen = expected_seconds(candidate, question.device);
    for (const auto& technique : candidate.techniques) {
      arms[technique.name].sum += std::log(std::max(found->second, 0.1)) - mean;
      ++arms[technique.name].tries;
    }
  }
  std::vector<std::pair<double, std::size_t>> open;
  for (std::size_t i : order) {
    const Candidate& candidate = candidates[i];
    if (scores.count(candidate.id) != 0 || (seconds(i) > hopeless * foreseen && !hinted(i))) continue;
    double value = -std::log(seconds(i)) + (hinted(i) ? 1 : 0);
    for (const auto& technique : candidate.techniques) {
      const Arm& arm = arms[technique.name];
      // Shrunk towards no effect while there are few tries, and a bonus for what is little known.
      const double share = 1.0 / static_cast<double>(candidate.techniques.size());
      value += share * (arm.sum / (arm.tries + 1) +
                        0.3 * std::sqrt(std::log(1.0 + static_cast<double>(scores.size())) / (arm.tries + 1)));
    }
    open.emplace_back(value, i);
  }
  std::sort(open.begin(), open.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  const auto turn = static_cast<std::size_t>(question.key.sample - 1);
  return turn < open.size() ? std::optional(open[turn].second) : std::nullopt;
}

std::optional<std::size_t> choose_repair(const std::vector<Candidate>& candidates, const std::string& failed_id) {
  const std::string algebra = failed_id.substr(0, failed_id.find('/'));
  for (const bool same : {true, false})
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool of_same = candidates[i].id.substr(0, candidates[i].id.find('/')) == algebra;
      if (candidates[i].simple && candidates[i].id != failed_id && of_same == same) return i;
    }
  return std::nullopt;
}

std::optional<std::size_t> choose_without(const std::vector<Candidate>& candidates, const std::string& winner_id,
                                          const std::vector<std::string>& undone) {
  const auto winner = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Candidate& candidate) { return candidate.id == winner_id; });
  if (winner == candidates.end()) return std::nullopt;
  const auto has = [](const Candidate& candidate, const std::string& name) {
    return std::any_of(candidate.techniques.begin(), candidate.techniques.end(),
                       [&](const auto& technique) { return technique.name == name; });
  };
  const auto taken_out = [&](const std::string& name) { return std::find(undone.begin(), undone.end(), name) != undone.end(); };
  std::optional<std::size_t> closest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& candidate = candidates[i];
    const bool lacks = std::none_of(undone.begin(), undone.end(), [&](const auto& name) { return has(candidate, name); });
    const bool keeps = std::all_of(winner->techniques.begin(), winner->techniques.end(), [&](const auto& technique) {
      return taken_out(technique.name) || has(candidate, technique.name);
    });
    if (lacks && keeps && (!closest || candidate.techniques.size() < candidates[*closest].techniques.size())) closest = i;
  }
  return closest;
}

}  // namespace cudal1::playbook
