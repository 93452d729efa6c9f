// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "search/options.hpp"

#include <algorithm>
#include <optional>

namespace cudal1::search {

// What may still be spent on replies. A question under way counts as the most that its reply can take, so a limit is
// exceeded by less than one reply, the one that was asked for last.
class Budget {
 public:
  explicit Budget(const Options& options) : tokens_(options.token_limit), cost_(options.cost_limit) {}

  // What a question under way may come to. Not known: neither the model tells nor has a reply shown it.
  struct Claim {
    long long tokens = 0;
    double cost = 0;
    bool tokens_known = false, cost_known = false;
  };
  Claim claim(const model::Question& question, const model::Model& model) const {
    Claim most{dearest_tokens_, dearest_cost_, dearest_tokens_ > 0, dearest_cost_ > 0};
    // Two bytes a token is less than any tokenizer makes of text and code.
    const auto input = static_cast<long long>((question.system.size() + question.user.size()) / 2);
    if (const auto output = model.output_tokens(); output > 0) {
      most.tokens = std::max(most.tokens, input + output);
      most.tokens_known = true;
      if (const auto price = model.price(input, output)) {
        most.cost = std::max(most.cost, *price);
        most.cost_known = true;
      }
    }
    return most;
  }

  void begin(const Claim& claim) { add(claim, 1); }
  void end(const Claim& claim, const model::Usage& usage) {
    add(claim, -1);
    spend(usage);
  }

  void spend(const model::Usage& usage) {
    spent_ += usage;
    uncounted_ = uncounted_ || !usage.priced;
    dearest_tokens_ = std::max(dearest_tokens_, usage.input_tokens + usage.output_tokens);
    dearest_cost_ = std::max(dearest_cost_, usage.cost);
  }

  // Whether one more question may be asked beside those under way. While nobody knows what a reply may come to, only one
  // question may be under way under a limit.
  bool allows() const { return !tokens_used_up() && !cost_used_up(); }
  bool tokens_used_up() const {
    return tokens_ && (unknown_tokens_ > 0 || spent_.input_tokens + spent_.output_tokens + claimed_.tokens >= *tokens_);
  }
  bool cost_used_up() const { return cost_ && (uncounted_ || unknown_costs_ > 0 || spent_.cost + claimed_.cost >= *cost_); }

  // A reply came without what it cost, so that nobody can say what is left.
  bool cost_uncounted() const { return cost_ && uncounted_; }

  const model::Usage& spent() const { return spent_; }

 private:
  void add(const Claim& claim, int sign) {
    claimed_.tokens += sign * claim.tokens;
    claimed_.cost += sign * claim.cost;
    unknown_tokens_ += claim.tokens_known ? 0 : sign;
    unknown_costs_ += claim.cost_known ? 0 : sign;
  }

  std::optional<long long> tokens_;
  std::optional<double> cost_;
  model::Usage spent_;
  Claim claimed_;                            // by all questions under way
  bool uncounted_ = false;
  int unknown_tokens_ = 0, unknown_costs_ = 0;
  long long dearest_tokens_ = 0;
  double dearest_cost_ = 0;
};

}  // namespace cudal1::search
