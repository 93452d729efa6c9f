// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/technique.hpp"

#include <string>
#include <vector>

namespace cudal1::outcome {

// A technique, and what it means in one kernel file.
struct AppliedTechnique {
  Technique technique;
  std::string sentence;

  std::string name() const { return std::string(outcome::name(technique)); }
};

// Once for each technique: the first sentence stays.
void apply(std::vector<AppliedTechnique>& techniques, Technique technique, const std::string& sentence);

}  // namespace cudal1::outcome
