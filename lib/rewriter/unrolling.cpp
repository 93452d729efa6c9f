// SPDX-License-Identifier: Apache-2.0
#include "rewriter/draft.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::rewriter {

// Innermost counted loops, several steps at a time, so that their loads overlap.
bool own_unrolling(const task::Task&, OwnDraft& draft) {
  constexpr int steps = 8;
  const std::vector<std::string> lines = base::split_lines(draft.code);
  std::string result;
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text(base::trim(lines[i]));
    const auto is_loop = [](std::string_view line) { return line.rfind("for (", 0) == 0; };
    bool innermost = is_loop(text);
    const std::size_t indent = lines[i].find_first_not_of(' ');
    for (std::size_t k = i + 1; innermost && k < lines.size(); ++k) {
      const std::size_t other = lines[k].find_first_not_of(' ');
      if (other != std::string::npos && other <= indent) break;
      if (is_loop(base::trim(lines[k]))) innermost = false;
    }
    const bool marked = i > 0 && base::trim(lines[i - 1]).rfind("#pragma", 0) == 0;
    // A directive cannot stand within a macro's definition.
    const bool macro = lines[i].ends_with('\\') || (i > 0 && lines[i - 1].ends_with('\\'));
    if (innermost && !marked && !macro && text.find("__syncthreads") == std::string::npos) {
      result += fmt::format("#pragma unroll {}\n", steps);
      any = true;
    }
    result += lines[i] + "\n";
  }
  if (any) {
    draft.code = result;
    draft.technique(Technique::unrolling, fmt::format("Innermost loops take {} steps at a time, so that their loads overlap.", steps));
  }
  return any;
}

}  // namespace cudal1::rewriter
