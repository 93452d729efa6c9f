// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/file.hpp"
#include "kernel/source_lexer.hpp"

#include <set>

namespace cudal1::kernel {

std::string code(const File& file) {
  const std::string visible = without_host_part(file.source);
  std::set<int> directives;
  for (const DirectiveLine& line : directive_lines(file.source)) directives.insert(line.line);
  std::string out;
  const std::vector<std::string> lines = base::split_lines(visible), written = base::split_lines(file.source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (directives.contains(static_cast<int>(i) + 1)) continue;
    const bool blank = base::trim(lines[i]).empty();
    const bool hidden = blank && !base::trim(written[i]).empty();
    if (hidden || (blank && (out.empty() || out.ends_with("\n\n")))) continue;
    out += lines[i];
    out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace cudal1::kernel
