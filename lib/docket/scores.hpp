// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reward/reward.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>

namespace cudal1::docket {

// The speed-ups of each task's right answers, so that a reward can tell a good one from a usual one. Screenings above
// reward::jump_limit() are left out until a final verdict has them.
class Scores {
 public:
  // Of all answers but the one that is to be rewarded, so that a repetition is not measured against itself.
  // With a group that began: of those that were known then.
  reward::Standing standing(const std::string& task, const std::string& without, const std::string& group = {}) const;

  // Keeps what is known of a task for a group's answers, whose order must not matter, once. The oldest groups are forgotten.
  void begin(const std::string& task, const std::string& group);

  void note(const std::string& task, const std::string& fingerprint, double speedup, bool confirmed);

 private:
  struct Task {
    std::map<std::string, double> by_answer;
    std::multiset<double> speedups;
    double sum = 0, squares = 0;
  };
  std::map<std::string, Task> tasks_;
  std::map<std::string, Task> groups_;   // by task and group
  std::deque<std::string> order_;        // of these
};

}  // namespace cudal1::docket
