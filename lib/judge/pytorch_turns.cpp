// SPDX-License-Identifier: Apache-2.0
#include "judge/pytorch_turns.hpp"

#include "verify/case.hpp"

#include <fmt/format.h>

namespace cudal1::judge {

std::vector<pytorch::Trial> few_of(const std::vector<pytorch::Trial>& trials) {
  std::vector<pytorch::Trial> few;
  for (const pytorch::Trial& trial : trials)
    if (few.size() < 2 || trial.pattern == reference::Pattern::stray) few.push_back(trial);
  return few;
}

std::string trial_name(const pytorch::Trial& trial) {
  return fmt::format("{}{}", reference::name(trial.pattern), trial.given ? ", weights that it is given" : trial.weights ? ", other weights" : "");
}

Rejected wrong_result(const pytorch::Comparison& found, const std::string& where) {
  Rejected judgement;
  judgement.verdict = outcome::Verdict::wrong_result;
  judgement.message = fmt::format("{}: {} ({})", verify::describe(*found.first), found.why, where);
  judgement.first_wrong = found.first;
  judgement.worst_wrong = found.worst;
  judgement.errors = found.errors;
  return judgement;
}

}  // namespace cudal1::judge
