// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace cudal1::search {

struct Result;

// Of the answers that were judged, those that name one technique. `timed` ones are right and have a score, and `gain` is the
// geometric mean of that score over the best score that their prompts showed (over 1 where none was shown).
struct TechniqueUse {
  int answers = 0, right = 0, timed = 0;
  double gain = 1;

  void add_gain(double factor);
};

std::map<std::string, TechniqueUse> technique_uses(const Result& result);

}  // namespace cudal1::search
