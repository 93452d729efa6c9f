// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::base {

std::string_view trim(std::string_view text);
std::vector<std::string> split_lines(std::string_view text);  // without newlines; a final newline adds no empty line

// The candidate nearest to `word` by edit distance, if near enough to be a misspelling (at most a third of its length).
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// Text from a model or a compiler, safe to print on a terminal: control characters but newline and tab removed.
std::string printable(std::string_view text);

}  // namespace cudal1::base
