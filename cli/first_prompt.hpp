// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prompt/prompt.hpp"
#include "search/options.hpp"
#include "search/result.hpp"

namespace cudal1::cli {

// The prompt of the first round, as a run with these options sends it.
prompt::Rendered first_prompt(const task::Task& task, const search::Start& start, const prompt::Templates& templates,
                              const search::Options& options);

// A rough count without any model's own tokenizer: four bytes a token.
long long estimated_tokens(const prompt::Rendered& prompt);

}  // namespace cudal1::cli
