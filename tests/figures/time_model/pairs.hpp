// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/predict.hpp"

#include <string>
#include <vector>

namespace cudal1::time_model {

// A kernel as the model sees it, beside its measured time.
struct Pair {
  std::string family, member;
  std::vector<sim::LaunchProfile> launches;
  double other_seconds = 0;            // of steps that are no launches
  double measured = 0;                 // [s], median
};

// One line per launch with every number of its profile, as `time_model count` writes them.
std::string profile_header();
std::string profile_line(const std::string& family, const std::string& member, const sim::LaunchProfile& profile, double other_seconds);

// Reads profiles, and the measured times of the same kernels; kernels without a time are left out.
std::vector<Pair> read_pairs(const std::string& profiles, const std::string& times);

}  // namespace cudal1::time_model
