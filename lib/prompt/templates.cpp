// SPDX-License-Identifier: Apache-2.0
#include "prompt/templates.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "prompt/embedded.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::prompt {

namespace {

bool is_hole_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

std::vector<std::string> template_names() {
  return {"system.md",         "kernel_file_card.md", "setting.md",      "first_round.md",
          "contrast_round.md", "exemplar.md",         "failure.md",      "repair_compile.md",
          "repair_wrong.md",   "repair_run.md",       "repair_forbidden.md", "repair_format.md",
          "ablation.md",       "hopper.md",           "unscored_round.md", "unscored_exemplar.md",
          "review_system.md",  "review.md",           "module_setting.md", "module_first_round.md"};
}

Templates::Templates(const std::filesystem::path& folder) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    throw base::Error(base::Fault::usage, fmt::format("--prompts {} is no folder", folder.string()));
  const auto names = template_names();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".md") continue;
    const auto name = entry.path().filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const auto near = base::nearest(name, names);
      throw base::Error(base::Fault::usage,
                        fmt::format("{}: no prompt is called so; {}", entry.path().string(),
                                    near ? fmt::format("did you mean {}?", *near)
                                         : fmt::format("there are {}", fmt::join(names, ", "))));
    }
    replaced_[name] = base::read_file(entry.path(), std::size_t{1} << 20);
  }
}

std::string_view Templates::text(std::string_view name) const {
  if (const auto found = replaced_.find(name); found != replaced_.end()) return found->second;
  if (const auto text = embedded_text(name)) return *text;
  throw base::Error(base::Fault::internal, fmt::format("there is no prompt {}", name));
}

std::string Templates::fill(std::string_view name, const Values& values) const {
  const auto source = text(name);
  std::set<std::string, std::less<>> used;
  std::string result;
  std::size_t at = 0;
  while (at < source.size()) {
    const auto open = source.find("{{", at);
    if (open == std::string_view::npos) break;
    const auto close = source.find("}}", open + 2);
    const auto hole = close == std::string_view::npos ? std::string_view{} : source.substr(open + 2, close - open - 2);
    if (!is_hole_name(hole)) {  // braces of C++, not a hole
      result += source.substr(at, open + 1 - at);
      at = open + 1;
      continue;
    }
    const auto value = values.find(std::string(hole));
    if (value == values.end()) {
      std::vector<std::string> names;
      for (const auto& [known, _] : values) names.push_back(known);
      throw base::Error(base::Fault::usage, fmt::format("prompt {}: nothing is called {{{{{}}}}}; there are {}", name,
                                                        hole, fmt::join(names, ", ")));
    }
    used.insert(value->first);
    result += source.substr(at, open - at);
    result += value->second;
    at = close + 2;
  }
  result += source.substr(at);
  for (const auto& [known, _] : values)
    if (!used.contains(known))
      throw base::Error(base::Fault::usage, fmt::format("prompt {}: {{{{{}}}}} is not used", name, known));
  return result;
}

std::string Templates::digest() const {
  std::string all;
  for (const auto& name : template_names()) all += fmt::format("{} {}\n", name, base::sha256(text(name)));
  return base::sha256(all);
}

}  // namespace cudal1::prompt
