// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <string>
#include <vector>

namespace cudal1::search {

struct Result;

// What a second model said of a winner that is far ahead. A remark, never a verdict.
struct Review {
  std::string id;                  // the variant's
  std::string model;
  bool suspicious = false;
  std::string remark;              // its reasons; why there are none, where it did not answer
  bool answered = true;
  double jump = 0;                 // the winner's score over the next best
  std::vector<std::string> shown;  // names of the known cheats that it was shown, nearest first
  model::Usage usage;
};

// The winner's score over that of the best other variant that is right, or over the reference where that is faster. 0
// where there is no winner.
double jump(const Result& result);

}  // namespace cudal1::search
