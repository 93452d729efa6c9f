// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "report/report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cudal1::report {

// What `verify` and `bench` print for variants that belong to no run: verdict, speed-up [interval], time, share of the
// limit and what binds, one row per variant and workload; below it the evidence of each one that failed.
struct NamedJudgement {
  std::string name;
  outcome::Judgement judgement;
};
std::string judgement_table(const std::vector<NamedJudgement>& judgements, const Style& style, bool counters = false);

}  // namespace cudal1::report
