// SPDX-License-Identifier: Apache-2.0
#include "dataset/example.hpp"

#include "curriculum/structure.hpp"
#include "prompt/compact.hpp"
#include "prompt/prompt.hpp"
#include "search/exemplars.hpp"
#include "search/fingerprint.hpp"
#include "search/search.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::dataset {

Source::Source(const store::Run& the_run) : run(the_run), task(task::from_source(run.identity.task_source, run.identity.task_path)), structure(curriculum::structure(task)) {
  std::set<std::string> known;
  for (const search::Variant& variant : run.result.variants) {
    if (variant.status != search::Variant::Status::judged || variant.source.empty() || variant.id == "start") continue;
    if (!known.insert(search::fingerprint(variant.source)).second) continue;
    if (!variant.right()) {
      wrong.push_back(&variant);
    } else if (variant.score() > 0) {
      if (!variant.judgement.code.empty() && !known.insert("code " + variant.judgement.code).second) continue;   // other words, the same machine code
      right.push_back(&variant);
    }
  }
  std::stable_sort(right.begin(), right.end(), [](const auto* a, const auto* b) { return a->score() < b->score(); });
}

std::string Source::split() const { return curriculum::is_test(structure) ? "test" : "train"; }

Messages prompt_of(const Source& source, const std::vector<const search::Variant*>& shown, const prompt::Templates& templates, Style style) {
  std::vector<model::Exemplar> exemplars;
  for (const search::Variant* variant : shown) exemplars.push_back(search::exemplar(*variant));
  if (style == Style::compact) return {{"user", prompt::compact(source.task, exemplars)}};
  prompt::Request request;
  request.exemplars = std::move(exemplars);
  auto rendered = prompt::render(templates, search::setting(source.task, source.run.result.start, ""), request);
  return {{"system", std::move(rendered.system)}, {"user", std::move(rendered.user)}};
}

std::string answer_of(const search::Variant& variant, Style style) {
  if (style == Style::compact) return variant.source;
  return fmt::format("## Performance Analysis\n{}\n\n## Algorithm Design\n{}\n\n## Code Implementation\n```cuda\n{}{}```\n", variant.analysis, variant.design, variant.source,
                     variant.source.ends_with('\n') ? "" : "\n");
}

}  // namespace cudal1::dataset
