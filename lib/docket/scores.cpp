// SPDX-License-Identifier: Apache-2.0
#include "docket/scores.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cudal1::docket {

namespace {

constexpr std::size_t most_groups = 512;

std::string key_of(const std::string& task, const std::string& group) { return task + '\n' + group; }

}  // namespace

void Scores::begin(const std::string& task, const std::string& group) {
  if (group.empty()) return;
  const auto [place, fresh] = groups_.try_emplace(key_of(task, group));
  if (!fresh) return;
  if (const auto known = tasks_.find(task); known != tasks_.end()) place->second = known->second;
  order_.push_back(place->first);
  if (order_.size() <= most_groups) return;
  groups_.erase(order_.front());
  order_.pop_front();
}

reward::Standing Scores::standing(const std::string& task, const std::string& without, const std::string& group) const {
  reward::Standing standing;
  const auto begun = group.empty() ? groups_.end() : groups_.find(key_of(task, group));
  const auto found = begun != groups_.end() ? begun : tasks_.find(task);
  if (begun == groups_.end() && found == tasks_.end()) return standing;
  const Task& known = found->second;
  double sum = known.sum, squares = known.squares;
  standing.count = static_cast<int>(known.speedups.size());
  auto best = known.speedups.rbegin();
  if (const auto own = known.by_answer.find(without); own != known.by_answer.end()) {
    sum -= own->second;
    squares -= own->second * own->second;
    --standing.count;
    if (*best == own->second) ++best;
  }
  if (standing.count == 0) return {};
  standing.best = *best;
  standing.mean = sum / standing.count;
  standing.deviation = std::sqrt(std::max(squares / standing.count - standing.mean * standing.mean, 0.0));
  if (standing.deviation < 1e-6 * standing.mean) standing.deviation = 0;   // rounding
  return standing;
}

void Scores::note(const std::string& task, const std::string& fingerprint, double speedup, bool confirmed) {
  if (!confirmed && speedup > reward::jump_limit(standing(task, fingerprint))) return;
  Task& known = tasks_[task];
  const auto [own, fresh] = known.by_answer.try_emplace(fingerprint, speedup);
  if (!fresh) {
    known.speedups.erase(known.speedups.find(own->second));
    known.sum -= own->second;
    known.squares -= own->second * own->second;
    own->second = speedup;
  }
  known.speedups.insert(speedup);
  known.sum += speedup;
  known.squares += speedup * speedup;
}

}  // namespace cudal1::docket
