// SPDX-License-Identifier: Apache-2.0
#include "rewriter/draft.hpp"

#include "base/text.hpp"
#include "kernel/host_source.hpp"
#include "rewriter/kernel_tree.hpp"

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

}  // namespace cudal1::rewriter
