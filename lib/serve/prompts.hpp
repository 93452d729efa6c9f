// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/session.hpp"

#include "prompt/templates.hpp"
#include "search/options.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::serve {

// A prompt for a policy that is being trained: as `optimize` asks, with what is right so far.
struct Prompt {
  std::string system, user;
  std::vector<std::pair<std::string, double>> exemplars;   // fingerprints and scores of those that it shows, by rising score
};

// `full` is the prompt of `optimize`. `compact`, for small models: the task's directives, then each exemplar behind a
// line with its score, and nothing else.
enum class Style { full, compact };

Prompt make_prompt(const docket::Warm& warm, const std::vector<search::Variant>& known, const prompt::Templates& templates, const search::Options& options,
                   Style style, std::uint64_t draw);

}  // namespace cudal1::serve
