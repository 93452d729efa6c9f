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

// "52.1x [40.2, 67.5]", "1.003x [0.998, 1.008]": as many digits as the interval deserves.
std::string text(const outcome::Speedup& speedup);
std::string milliseconds(double ms);  // "0.0523 ms"

}  // namespace cudal1::report
