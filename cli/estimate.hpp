// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "model/model.hpp"
#include "prompt/prompt.hpp"
#include "search/options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::cli {

// What a run would ask of its models, guessed before anything is sent.
struct Estimate {
  static constexpr long long reply_tokens = 6000;    // of a reply with its reasoning
  static constexpr double tokens_per_second = 60;

  int replies = 0;                                   // repairs not counted
  long long input_tokens = 0, output_tokens = 0;     // of all replies; the first prompt stands for all
  std::optional<double> cost, highest_cost;          // US dollars; the latter if every reply is as long as allowed
  base::Seconds time{};                              // waiting for services
};

Estimate estimate(const prompt::Rendered& prompt, const search::Options& options,
                  const std::vector<std::unique_ptr<model::Model>>& models);

// In a few sentences.
std::string text(const Estimate& estimate);

}  // namespace cudal1::cli
