// SPDX-License-Identifier: Apache-2.0
#include "search/technique_use.hpp"

#include "search/result.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace cudal1::search {

void TechniqueUse::add_gain(double factor) {
  gain = std::exp((std::log(gain) * timed + std::log(factor)) / (timed + 1));
  ++timed;
}

std::map<std::string, TechniqueUse> technique_uses(const Result& result) {
  std::map<std::string, double> scores;
  for (const Variant& variant : result.variants) scores[variant.id] = variant.score();
  std::map<std::string, TechniqueUse> uses;
  for (const Variant& variant : result.variants) {
    if (variant.status != Variant::Status::judged) continue;
    double shown = 1;
    for (const std::string& id : variant.exemplars)
      if (const auto found = scores.find(id); found != scores.end()) shown = std::max(shown, found->second);
    for (const std::string& technique : std::set<std::string>(variant.techniques.begin(), variant.techniques.end())) {
      TechniqueUse& use = uses[technique];
      ++use.answers;
      if (!variant.right()) continue;
      ++use.right;
      if (variant.score() > 0) use.add_gain(variant.score() / shown);
    }
  }
  return uses;
}

}  // namespace cudal1::search
