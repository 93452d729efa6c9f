// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "prompt/templates.hpp"
#include "search/result.hpp"
#include "search/review.hpp"
#include "task/task.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cudal1::reviewer {

// A winner whose score is this many times that of the next best is shown to a second model.
constexpr double preset_jump = 1.5;
constexpr std::size_t cheats_shown = 5;

// What a reviewer says: `Verdict: clean` or `Verdict: suspicious` on a line of its own, and the reasons behind it. Empty: no
// such line.
struct Opinion {
  bool suspicious = false;
  std::string reasons;
};
std::optional<Opinion> parse_opinion(std::string_view reply);

// The question about the result's winner: the task, the winner with its score, and the known cheats that are most like it.
model::Question question(const task::Task& task, const search::Result& result, const prompt::Templates& templates);

// Asks `model` about the result's winner. The error is why no reply came, one sentence; it may be asked again.
tl::expected<search::Review, std::string> review(const task::Task& task, const search::Result& result, model::Model& model,
                                                 const prompt::Templates& templates, std::stop_token stop);

}  // namespace cudal1::reviewer
