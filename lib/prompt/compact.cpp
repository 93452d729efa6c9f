// SPDX-License-Identifier: Apache-2.0
#include "prompt/compact.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::prompt {

std::string compact(const task::Task& task, const std::vector<model::Exemplar>& exemplars) {
  std::string text;
  for (const std::string& line : base::split_lines(task.file.source)) {
    const std::string_view trimmed = base::trim(line);
    if (trimmed.starts_with("//@") && !base::trim(trimmed.substr(3)).starts_with("launch")) text += std::string(trimmed) + '\n';
  }
  for (const model::Exemplar& exemplar : exemplars) {
    text += fmt::format("// {:.3g}x\n{}", exemplar.judgement.score(), exemplar.source);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text + "// faster\n";
}

}  // namespace cudal1::prompt
