// SPDX-License-Identifier: Apache-2.0
#include "rewriter/rewriter.hpp"

#include "base/text.hpp"
#include "kernel/host_source.hpp"
#include "rewriter/draft.hpp"
#include "rewriter/kernel_tree.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
  const auto tokens = kernel::lex_code(text);
  std::vector<std::string> result;
  for (const kernel::TokenRange& part : kernel::split_arguments(tokens, 0, tokens.size())) result.push_back(kernel::source_text(text, tokens, part.from, part.to));
  return result;
}

std::vector<std::string> extents_of(const std::string& text) {
  if (text.rfind("dim3(", 0) != 0 || text.back() != ')') return {text};
  return parts_of(text.substr(5, text.size() - 6));
}

std::string extents(const std::vector<std::string>& parts) {
  return parts.size() == 1 ? parts[0] : fmt::format("dim3({})", fmt::join(parts, ", "));
}

}  // namespace

std::optional<OwnLaunch> own_launch(const std::string& line) {
  const std::size_t open = line.find("<<<"), close = line.find(">>>");
  if (line.rfind("launch", 0) != 0 || open == std::string::npos || close == std::string::npos) return std::nullopt;
  const std::vector<std::string> parts = parts_of(line.substr(open + 3, close - open - 3));
  if (parts.size() != 2 || line.find(')', close) + 1 != line.size()) return std::nullopt;
  return OwnLaunch{std::string(base::trim(std::string_view(line).substr(6, open - 6))), extents_of(parts[0]), extents_of(parts[1]),
                   line.substr(close + 3)};
}

std::string OwnLaunch::text() const {
  return fmt::format("launch  {}<<<{}, {}>>>{}", name, extents(grid), extents(block), arguments);
}

std::string unused_name(const std::string& code, const std::string& name) {
  std::string result = name;
  for (int i = 2; names(code, result); ++i) result = fmt::format("{}_{}", name, i);
  return result;
}

std::string tune(OwnDraft& draft, const std::string& name, const std::string& values) {
  std::string all = draft.code;
  for (const auto* lines : {&draft.tunables, &draft.plan})
    for (const std::string& line : *lines) all += "\n" + line;
  const std::string chosen = unused_name(all, name);
  draft.tunables.push_back(fmt::format("{} = {}", chosen, draft.tunables.empty() ? values : values.substr(0, values.find(' '))));
  return chosen;
}

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
