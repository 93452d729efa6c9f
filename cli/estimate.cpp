// SPDX-License-Identifier: Apache-2.0
#include "estimate.hpp"

#include "first_prompt.hpp"

#include "model/service.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// Adds up; unknown once a part is.
void add(std::optional<double>& sum, std::optional<double> part, double times) {
  if (sum && part) *sum += *part * times;
  else sum.reset();
}

}  // namespace

Estimate estimate(const prompt::Rendered& prompt, const search::Options& options,
                  const std::vector<std::unique_ptr<model::Model>>& models) {
  Estimate result;
  result.replies = options.rounds * options.samples;
  const long long input = estimated_tokens(prompt);
  result.cost = result.highest_cost = 0.0;
  const double share = static_cast<double>(result.replies) / static_cast<double>(models.size());
  int waves = 0;  // replies that a round waits for one after the other: the first alone, then as many as allowed
  for (const auto& model : models) {
    const bool service = !model::address_of(*model).empty();
    const long long longest = service ? model->output_tokens() : 0;
    const long long output = std::min(longest, Estimate::reply_tokens);
    result.output_tokens += static_cast<long long>(static_cast<double>(output) * share);
    add(result.cost, model->price(input, output), share);
    add(result.highest_cost, model->price(input, longest), share);
    const int samples = static_cast<int>((static_cast<std::size_t>(options.samples) + models.size() - 1) / models.size());
    const int parallel = std::max(model->parallel(), 1);
    if (service) waves = std::max(waves, 1 + (samples - 1 + parallel - 1) / parallel);
  }
  result.input_tokens = input * result.replies;
  result.time = base::Seconds(options.rounds * waves * static_cast<double>(Estimate::reply_tokens) / Estimate::tokens_per_second);
  return result;
}

std::string text(const Estimate& estimate) {
  std::string text = fmt::format("about {} tokens of prompts in all, before any repair.", estimate.input_tokens);
  if (estimate.output_tokens == 0) return text;
  text += fmt::format(" With replies of {} tokens at {:g} tokens a second: about {} tokens of replies and {:.0f} min of waiting",
                      Estimate::reply_tokens, Estimate::tokens_per_second, estimate.output_tokens, estimate.time.count() / 60);
  if (estimate.cost && *estimate.highest_cost > 0)
    text += fmt::format(", for ${:.2f}; ${:.2f} if every reply is as long as --output-tokens allows.", *estimate.cost, *estimate.highest_cost);
  else if (estimate.cost) text += ", for nothing.";
  else text += "; the price is not known (--prices).";
  return text;
}

}  // namespace cudal1::cli
