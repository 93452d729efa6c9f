// SPDX-License-Identifier: Apache-2.0
#include "rewriter/rewriter.hpp"

#include "base/text.hpp"
#include "rewriter/draft.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

// Those that change what a thread does come first: the others then have their kernel to work on. A kernel that one of
// them has changed is plain no more, so that each kernel of a plan takes the first one that holds for it.
const std::vector<OwnRule>& own_rules() {
  static const std::vector<OwnRule> list = {
      {"teams", own_teams},           {"staging", own_staging},   {"turning", own_turning},     {"vectors", own_vectors},
      {"coarsening", own_coarsening}, {"geometry", own_geometry}, {"read-only", own_read_only}, {"unrolling", own_unrolling},
  };
  return list;
}

// What is tried together, in the order in which it is offered.
const std::vector<std::set<std::string_view>>& combinations() {
  static const std::vector<std::set<std::string_view>> list = {
      {"staging", "turning", "teams", "vectors", "geometry", "read-only"},
      {"staging", "turning", "teams", "coarsening", "geometry", "read-only"},
      {"teams", "turning", "vectors", "geometry", "read-only", "unrolling"},
      {"staging", "geometry", "read-only"},
      {"turning", "geometry", "read-only"},
      {"teams", "geometry", "read-only"},
      {"vectors", "geometry", "read-only"},
      {"coarsening", "geometry", "read-only"},
      {"staging", "turning", "teams", "vectors", "geometry"},
      {"geometry", "read-only", "unrolling"},
      {"geometry", "read-only"},
      {"geometry"},
      {"read-only", "unrolling"},
  };
  return list;
}

OwnDraft draft_of(const task::Task& task) {
  OwnDraft result;
  for (const std::string& line : base::split_lines(task.file.source)) {
    const std::string text(base::trim(line));
    if (text.rfind("//@", 0) != 0) continue;
    const std::string directive(base::trim(std::string_view(text).substr(3)));
    for (const char* kept : {"scratch", "launch", "memset", "copy", "for", "when", "tune", "}"})
      if (directive.rfind(kept, 0) == 0) result.plan.push_back(directive);
  }
  result.code = kernel::code(task.file);
  return result;
}

}  // namespace

std::vector<Rewriting> rewritings(const task::Task& task) {
  const OwnDraft original = draft_of(task);
  std::vector<Rewriting> result;
  std::set<std::string> seen{original.code};
  for (const auto& combination : combinations()) {
    OwnDraft draft = original;
    std::vector<std::string_view> applied;
    for (const OwnRule& rule : own_rules())
      if (combination.count(rule.name) != 0 && rule.apply(task, draft)) applied.push_back(rule.name);
    if (applied.empty()) continue;
    Rewriting rewriting;
    rewriting.id = fmt::format("own kernel/{}", fmt::join(applied, ", "));
    std::string plan;
    for (const std::string& each : draft.tunables) plan += "//@ tune    " + each + "\n";
    for (const std::string& each : draft.plan) plan += "//@ " + each + "\n";
    if (!seen.insert(plan + draft.code).second) continue;
    rewriting.source = fmt::format("//@ of      {} sha256:{}\n{}// playbook: {}\n\n{}", task.path.filename().string(), task.digest, plan,
                                   rewriting.id, draft.code);
    rewriting.techniques = std::move(draft.techniques);
    result.push_back(std::move(rewriting));
  }
  return result;
}

}  // namespace cudal1::rewriter
