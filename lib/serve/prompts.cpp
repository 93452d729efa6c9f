// SPDX-License-Identifier: Apache-2.0
#include "serve/prompts.hpp"

#include "prompt/compact.hpp"
#include "prompt/prompt.hpp"
#include "search/exemplars.hpp"
#include "search/search.hpp"

namespace cudal1::serve {

Prompt make_prompt(const docket::Warm& warm, const std::vector<search::Variant>& known, const prompt::Templates& templates, const search::Options& options,
                   Style style, std::uint64_t draw) {
  // A draw is a function of its key.
  const model::Key key{static_cast<int>(draw >> 20 & 0x7fffffff), static_cast<int>(draw & 0xfffff)};
  prompt::Request request;
  request.exemplars = search::shown_exemplars(known, warm.task, warm.start.reference.judgement, options, key);
  Prompt result;
  for (const model::Exemplar& shown : request.exemplars) result.exemplars.emplace_back(shown.id, shown.judgement.score());
  if (style == Style::compact) {
    result.user = prompt::compact(warm.task, request.exemplars);
    return result;
  }
  // Its fingerprint says nothing to a model.
  for (std::size_t i = 0; i < request.exemplars.size(); ++i)
    if (request.exemplars[i].id != "reference") request.exemplars[i].id = "variant " + std::to_string(i + 1);
  prompt::Rendered rendered = prompt::render(templates, search::setting(warm.task, warm.start, options.hint), request);
  result.system = std::move(rendered.system);
  result.user = std::move(rendered.user);
  return result;
}

}  // namespace cudal1::serve
