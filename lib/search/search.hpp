// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prompt/prompt.hpp"
#include "search/observer.hpp"
#include "search/options.hpp"
#include "search/referee.hpp"
#include "search/result.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::search {

// The prompt's view of what a run starts from; also what `cudal1 prompt` renders.
prompt::Setting setting(const task::Task& task, const Start& start, const std::string& hint);

// The contrastive rounds. Every question of a round sees the variants of earlier rounds only, so the result depends on
// seed, replies and judgements and not on which reply came first. Throws base::Error when the task itself is broken
// (from the referee); everything else, unreachable models included, ends in the result with nothing lost. When `stop`
// is requested the variant at hand is finished and no final verdict is asked for.
Result run(const task::Task& task, Referee& referee, const std::vector<model::Model*>& models,
           const prompt::Templates& templates, const Options& options, Observer& observer, const Recall& recall,
           std::stop_token stop);

}  // namespace cudal1::search
