// SPDX-License-Identifier: Apache-2.0
#include "outcome/applied_technique.hpp"

#include <algorithm>

namespace cudal1::outcome {

void apply(std::vector<AppliedTechnique>& techniques, Technique technique, const std::string& sentence) {
  const auto same = [&](const AppliedTechnique& each) { return each.technique == technique; };
  if (std::none_of(techniques.begin(), techniques.end(), same)) techniques.push_back({technique, sentence});
}

}  // namespace cudal1::outcome
