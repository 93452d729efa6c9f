// SPDX-License-Identifier: Apache-2.0
#include "prompt/words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::prompt {

std::string milliseconds(double ms) {
  return ms < 0.1 ? fmt::format("{:.3g} µs", ms * 1e3) : fmt::format("{:.4g} ms", ms);
}

std::string bytes(double count) {
  if (count < 1024) return fmt::format("{:.0f} B", count);
  if (count < 1024 * 1024) return fmt::format("{:.4g} KiB", count / 1024);
  if (count < 1e9) return fmt::format("{:.4g} MiB", count / 1024 / 1024);
  return fmt::format("{:.4g} GB", count / 1e9);
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string fenced(std::string_view text, std::string_view language) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace cudal1::prompt
