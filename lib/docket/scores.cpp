// SPDX-License-Identifier: Apache-2.0
#include "docket/scores.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cudal1::docket {

reward::Standing Scores::standing(const std::string& task, const std::string& without) const {
  reward::Standing standing;
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return standing;
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
