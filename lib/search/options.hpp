// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cudal1::model {
class Model;
}

namespace cudal1::search {

// How exemplars are chosen among the variants that are right.
enum class Sampling {
  buckets,  // distinct score buckets, fast ones likelier: the published method
  islands,  // four populations by sample number, two best distinct scores of one
  random,   // uniform: the control
  none,     // no exemplars at all: the control of the control
};

struct Options {
  int rounds = 4;
  int samples = 4;                       // per round
  std::uint64_t seed = 1;
  int exemplars = 2;
  Sampling sampling = Sampling::buckets;
  // Of the softmax over mean log scores of buckets. At 0.1 a bucket whose scores are 7 % higher is drawn twice as often:
  // the two best buckets mostly, another now and then. On synthetic landscapes larger values find less, and much smaller
  // ones hardly more (tests/figures/README.md).
  double tau = 0.1;
  // Of a bucket, in log score: 0.15 puts scores that differ by less than 16 % together, so that what is contrasted
  // differs by more than a screening interval.
  double bucket_width = 0.15;
  // Controls of an experiment: without scores a prompt shows the same variants in a random order, and nothing that was
  // measured of them.
  bool show_scores = true;
  bool repair = true;                    // one repair of an answer that failed; counts as no round
  int confirmations = 5;                 // most variants that a final verdict is asked for
  bool ablate = false;                   // take the winner's techniques out again, one at a time and in pairs
  std::string hint;
  std::string start_from;                // source of a kernel file that enters as the variant "start"; may be empty
  model::Model* starter = nullptr;       // answers a round 0 of as many samples, which the first prompts show; outlives the run

  // Reasons to stop before the rounds are used up; empty: no such limit. Checked between variants.
  std::optional<base::Seconds> wall_limit;
  std::optional<double> target_speedup;
  std::optional<double> share_of_limit;  // of the speed of light, 0 … 1
  std::optional<int> stagnation;         // rounds without a better score
  std::optional<long long> token_limit;
  std::optional<double> cost_limit;      // US dollars
};

}  // namespace cudal1::search
