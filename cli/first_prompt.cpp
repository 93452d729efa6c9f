// SPDX-License-Identifier: Apache-2.0
#include "first_prompt.hpp"

#include "search/search.hpp"

namespace cudal1::cli {

prompt::Rendered first_prompt(const task::Task& task, const search::Start& start, const prompt::Templates& templates,
                              const search::Options& options) {
  prompt::Request request;
  request.memory = options.memory;
  return prompt::render(templates, search::setting(task, start, options.hint), request);
}

long long estimated_tokens(const prompt::Rendered& prompt) {
  return static_cast<long long>((prompt.system.size() + prompt.user.size() + 3) / 4);
}

}  // namespace cudal1::cli
