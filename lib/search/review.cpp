// SPDX-License-Identifier: Apache-2.0
#include "search/review.hpp"

#include "search/result.hpp"

#include <algorithm>

namespace cudal1::search {

double jump(const Result& result) {
  const Variant* best = result.best();
  if (best == nullptr || best->score() <= 0) return 0;
  double next = 1;
  for (const Variant& variant : result.variants)
    if (&variant != best && variant.status == Variant::Status::judged && variant.reverts.empty()) next = std::max(next, variant.score());
  return best->score() / next;
}

}  // namespace cudal1::search
