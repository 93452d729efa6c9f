// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/variant.hpp"

#include "judge/judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1::search {

// Variants that their screenings, separate measurements against the reference, could not tell apart, timed in turns: a
// round's, with the best before it.
struct Race {
  struct Racer {
    std::string id;
    outcome::Speedup over_fastest;   // at 99 %; 1 for the fastest
    int turns = 0;
    outcome::Speedup speedup;        // over the reference, from now on
  };
  int round = 0;
  std::vector<Racer> racers;         // the fastest first; empty with a problem
  std::string problem;               // why the race counts for nothing: one sentence
  double seconds = 0;
};

// Worth a final verdict, if none is faster: right and not known to be slower.
bool may_win(const Variant& variant);

// Who races at the end of a round whose variants begin at `first`: those whose screening intervals reach that of the
// best, and the best before them likewise. Empty: there is nothing to race.
std::vector<std::size_t> contenders(const std::vector<Variant>& variants, std::size_t first);

// The best before the round keeps its speed-up, so that what later rounds are compared with stays; where it does not
// race, the geometric mean of all stays.
Race placed(int round, const judge::Race& race, const std::vector<std::size_t>& contenders,
            const std::vector<Variant>& variants, std::size_t first);

// Gives the racers, and what is the same as one of them, their new speed-ups.
void rescore(const Race& race, std::vector<Variant>& variants);

}  // namespace cudal1::search
