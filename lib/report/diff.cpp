// SPDX-License-Identifier: Apache-2.0
#include "report/diff.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

using Lines = std::vector<std::string>;

struct Edit {
  char kind;  // ' ', '-' or '+'
  std::size_t before, after;
};

// Longest common subsequence by dynamic programming. Kernel files have hundreds of lines; beyond `largest` cells the
// common head and tail are kept and the middle is shown as replaced.
std::vector<Edit> edits(const Lines& a, const Lines& b) {
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const std::size_t n = a.size() - head - tail, m = b.size() - head - tail;

  std::vector<Edit> result;
  for (std::size_t i = 0; i < head; ++i) result.push_back({' ', i, i});
  constexpr std::size_t largest = 16'000'000;
  const bool exact = n * m <= largest;
  std::vector<unsigned> length;
  if (exact) {
    length.assign((n + 1) * (m + 1), 0);
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = m; j-- > 0;)
        length[i * (m + 1) + j] = a[head + i] == b[head + j]
                                      ? length[(i + 1) * (m + 1) + j + 1] + 1
                                      : std::max(length[(i + 1) * (m + 1) + j], length[i * (m + 1) + j + 1]);
  }
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (exact && i < n && j < m && a[head + i] == b[head + j]) {
      result.push_back({' ', head + i++, head + j++});
    } else if (i < n && (j == m || !exact || length[(i + 1) * (m + 1) + j] >= length[i * (m + 1) + j + 1])) {
      result.push_back({'-', head + i++, head + j});
    } else {
      result.push_back({'+', head + i, head + j++});
    }
  }
  for (std::size_t k = 0; k < tail; ++k) result.push_back({' ', a.size() - tail + k, b.size() - tail + k});
  return result;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  const Lines a = base::split_lines(before), b = base::split_lines(after);
  const auto script = edits(a, b);
  constexpr std::size_t context = 3;

  std::string text;
  for (std::size_t at = 0; at < script.size();) {
    const auto change = std::find_if(script.begin() + static_cast<std::ptrdiff_t>(at), script.end(),
                                     [](const Edit& e) { return e.kind != ' '; });
    if (change == script.end()) break;
    const auto first = static_cast<std::size_t>(change - script.begin());
    const std::size_t begin = std::max(at, first < context ? 0 : first - context);
    std::size_t end = first, quiet = 0;
    for (; end < script.size() && quiet <= 2 * context; ++end) quiet = script[end].kind == ' ' ? quiet + 1 : 0;
    if (quiet > context) end -= quiet - context;

    std::size_t removed = 0, added = 0;
    for (std::size_t k = begin; k < end; ++k) removed += script[k].kind != '+', added += script[k].kind != '-';
    if (text.empty()) text = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
    text += fmt::format("@@ -{},{} +{},{} @@\n", script[begin].before + 1, removed, script[begin].after + 1, added);
    for (std::size_t k = begin; k < end; ++k) {
      const auto& edit = script[k];
      text += fmt::format("{}{}\n", edit.kind, edit.kind == '+' ? b[edit.after] : a[edit.before]);
    }
    at = end;
  }
  return text;
}

}  // namespace cudal1::report
