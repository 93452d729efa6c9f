// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pairs.hpp"

#include <set>
#include <string>
#include <vector>

namespace cudal1::time_model {

double predicted(const Pair& pair, const outcome::DeviceFacts& gpu, const sim::TimeConstants& constants);

// Where the fit begins: round numbers from what NVIDIA documents.
const sim::TimeConstants& documented_constants();

// The constants under which ratios of times within a family come out best, from the pairs of all families but `left_out`.
sim::TimeConstants fit(const std::vector<Pair>& pairs, const outcome::DeviceFacts& gpu, const std::string& left_out);

// How a predictor ranks the members of families.
struct Ranking {
  std::size_t pairs = 0, ordered = 0;  // pairs whose measured ratio exceeds 1.2; of them, in the right order
  double picked = 0;                   // measured time of the member it would pick, relative to the fastest one's
};
Ranking rank(const std::vector<double>& measured, const std::vector<double>& predicted);

}  // namespace cudal1::time_model
