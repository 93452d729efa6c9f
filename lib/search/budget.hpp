// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "search/options.hpp"

#include <algorithm>
#include <optional>

namespace cudal1::search {

// What may still be spent on replies. Questions under way count as much as the dearest reply so far, so a limit is
// exceeded by one reply at most.
class Budget {
 public:
  explicit Budget(const Options& options) : tokens_(options.token_limit), cost_(options.cost_limit) {}

  void spend(const model::Usage& usage) {
    spent_.input_tokens += usage.input_tokens;
    spent_.output_tokens += usage.output_tokens;
    spent_.cached_tokens += usage.cached_tokens;
    spent_.cost += usage.cost;
    spent_.reasoning_tokens += usage.reasoning_tokens;
    spent_.priced = spent_.priced && usage.priced;
    dearest_tokens_ = std::max(dearest_tokens_, usage.input_tokens + usage.output_tokens);
    dearest_cost_ = std::max(dearest_cost_, usage.cost);
  }

  // The limit that forbids one more question beside `under_way` others; empty: it may be asked. Before the first reply
  // nothing is known about a reply's price, so only one question may be under way under a limit.
  bool tokens_used_up(int under_way) const { return used_up(tokens_, spent_.input_tokens + spent_.output_tokens, dearest_tokens_, under_way); }
  bool cost_used_up(int under_way) const { return used_up(cost_, spent_.cost, dearest_cost_, under_way); }
  bool allows(int under_way) const { return !tokens_used_up(under_way) && !cost_used_up(under_way); }

  const model::Usage& spent() const { return spent_; }

 private:
  template <typename T>
  static bool used_up(const std::optional<T>& limit, T spent, T dearest, int under_way) {
    if (!limit) return false;
    if (under_way > 0 && dearest == T{}) return true;
    return spent + static_cast<T>(under_way) * dearest >= *limit;
  }

  std::optional<long long> tokens_;
  std::optional<double> cost_;
  model::Usage spent_;
  long long dearest_tokens_ = 0;
  double dearest_cost_ = 0;
};

}  // namespace cudal1::search
