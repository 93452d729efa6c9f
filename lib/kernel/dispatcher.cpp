// SPDX-License-Identifier: Apache-2.0
#include "kernel/dispatcher.hpp"

#include "base/text.hpp"
#include "kernel/directives.hpp"
#include "kernel/substitute.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

void qualify(std::vector<Step>& steps, const std::string& space) {
  for (Step& step : steps) {
    if (auto* launch = std::get_if<LaunchStep>(&step.step)) launch->kernel = space + "::" + launch->kernel;
    else if (auto* copy = std::get_if<CopyStep>(&step.step)) copy->variable = space + "::" + copy->variable;
    else if (auto* repeat = std::get_if<RepeatStep>(&step.step)) qualify(repeat->body, space);
  }
}

// Every whole word that is a key, replaced.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto part_of_word = [&](std::size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'); };
    std::size_t end = i;
    while (part_of_word(end)) ++end;
    if (end == i) {
      out += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    const auto found = names.find(word);
    out += found == names.end() ? word : found->second;
    i = end;
  }
  return out;
}

// Code that stands in a namespace, and what cannot.
struct Housed {
  std::vector<std::string> includes;
  std::string code;
};

Housed housed(const std::string& code, const std::string& space, const std::string& prelude) {
  Housed result;
  std::set<std::string> macros;
  std::string body = prelude;
  for (std::string line : base::split_lines(code)) {
    std::string_view text = base::trim(line);
    if (text.starts_with("#")) {
      std::string_view word = base::trim(text.substr(1));
      if (word.starts_with("include")) {
        result.includes.emplace_back(text);
        continue;
      }
      if (word.starts_with("define")) {
        word = base::trim(word.substr(6));
        macros.emplace(word.substr(0, static_cast<std::size_t>(std::find_if(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }) - word.begin())));
      }
    }
    // Kernels are found by their name in the namespace; two with C's linkage would be one.
    if (const auto at = line.find("extern \"C\""); at != std::string::npos && line.find('{', at) == std::string::npos) line.erase(at, 10);
    body += line + "\n";
  }
  result.code = fmt::format("namespace {} {{\n\n{}\n}}  // namespace {}\n", space, body, space);
  for (const std::string& macro : macros) result.code += fmt::format("#undef {}\n", macro);
  return result;
}

}  // namespace

tl::expected<std::string, base::Diagnostics> dispatcher(const std::vector<DispatchedPart>& parts) {
  std::string scratches, steps, code;
  std::vector<std::string> includes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string space = fmt::format("sizes{}", i + 1);
    auto parsed = parse(parts[i].source, parts[i].name);
    if (!parsed) return tl::unexpected(std::move(parsed.error()));
    const Housed own = housed(kernel::code(*parsed), space, tunable_prelude(parts[i].tunables));
    File plan = with_tunables_fixed(*std::move(parsed), parts[i].tunables);
    qualify(plan.plan, space);
    std::map<std::string, std::string> names;
    for (Scratch& scratch : plan.scratches) names.emplace(scratch.name, fmt::format("{}_{}", scratch.name, i + 1));
    // Only what an answer says: the interface is the task's.
    File answer;
    answer.scratches = std::move(plan.scratches);
    answer.plan = std::move(plan.plan);
    steps += fmt::format("//@ when {} {{\n", parts[i].condition);
    for (const std::string& line : base::split_lines(renamed(print(answer), names)))
      (line.starts_with("//@ scratch") ? scratches : steps) += line + "\n";
    steps += "//@ }\n";
    for (const std::string& include : own.includes)
      if (std::find(includes.begin(), includes.end(), include) == includes.end()) includes.push_back(include);
    code += "\n" + own.code;
  }
  std::string text = scratches + steps + "\n";
  for (const std::string& include : includes) text += include + "\n";
  return text + code;
}

std::vector<std::string> dispatch_conditions(const std::vector<std::map<std::string, std::int64_t>>& sizes, const std::vector<std::size_t>& groups) {
  const std::size_t count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  std::vector<std::string> best;
  std::size_t fewest = 0;
  for (const auto& [name, first] : sizes.empty() ? std::map<std::string, std::int64_t>() : sizes.front()) {
    std::map<std::int64_t, std::set<std::size_t>> at;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (const auto value = sizes[i].find(name); value != sizes[i].end()) at[value->second].insert(groups[i]);
    if (at.size() < 2 || std::any_of(at.begin(), at.end(), [](const auto& one) { return one.second.size() > 1; })) continue;
    std::vector<std::string> conditions(count);
    std::size_t intervals = 0;
    std::string lower;
    for (auto here = at.begin(); here != at.end();) {
      auto next = here;
      std::int64_t last = here->first;
      for (; next != at.end() && next->second == here->second; ++next) last = next->first;
      std::string condition = lower;
      if (next != at.end()) {
        const auto bound = static_cast<std::int64_t>(std::sqrt(static_cast<double>(last) * static_cast<double>(next->first)));
        condition += fmt::format("{}{} <= {}", lower.empty() ? "" : " && ", name, bound);
        lower = fmt::format("{} > {}", name, bound);
      }
      std::string& mine = conditions[*here->second.begin()];
      mine = mine.empty() ? condition : fmt::format("({}) || ({})", mine, condition);
      ++intervals;
      here = next;
    }
    if (std::any_of(conditions.begin(), conditions.end(), [](const std::string& one) { return one.empty(); })) continue;
    if (best.empty() || intervals < fewest) best = std::move(conditions), fewest = intervals;
  }
  return best;
}

}  // namespace cudal1::kernel
