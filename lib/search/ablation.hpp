// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::search {

// What a winner's techniques brought, found by taking them out again and measuring what is left.
struct Factor {
  std::vector<std::string> techniques;  // one, or two that were taken out together
  const Variant* without = nullptr;     // the answer that lacks them
  std::string problem;                  // why there is no figure; empty: the figures below hold
  // The time without them divided by the time with them: 1.25 means that they made the winner 1.25 times as fast, less
  // than 1 that they harmed.
  double value = 1, low = 1, high = 1;
};

// Of two techniques: how what they bring together compares with the product of what each brings.
enum class Together {
  multiply,    // the same, within the intervals
  need,        // less: each is of use only with the other, and taking out either loses what both bring
  replace,     // more: each does what the other does, and taking out one alone loses little
  unknown,     // a figure is missing
};

std::string_view name(Together together);  // "multiply", "need", "replace", "unknown"

struct Ablation {
  const Variant* winner = nullptr;
  std::vector<Factor> single, pairs;
  Together together(const Factor& pair) const;
};

// The sets of techniques to take out of a winner: each of the first four alone, then each two of them.
std::vector<std::vector<std::string>> undo_sets(const std::vector<std::string>& techniques);

// Of the winner that was taken apart last; empty when none was. Points into `result`.
std::optional<Ablation> ablation(const Result& result);

}  // namespace cudal1::search
