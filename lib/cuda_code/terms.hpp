// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cuda_code {

// A sum of C expressions, such as an address.
class Sum {
 public:
  void add(const std::string& term) { terms_.push_back(term); }
  // "N + row * M"; "0" where nothing is added.
  std::string text() const { return terms_.empty() ? "0" : fmt::format("{}", fmt::join(terms_, " + ")); }
  // " + N + row * M" behind what stands in front; empty where nothing is added.
  std::string behind() const { return terms_.empty() ? "" : " + " + text(); }

 private:
  std::vector<std::string> terms_;
};

// Conditions that all have to hold, each once.
class Conditions {
 public:
  void require(const std::string& condition) {
    if (std::find(conditions_.begin(), conditions_.end(), condition) == conditions_.end()) conditions_.push_back(condition);
  }
  // "N % 4 == 0 && M % 4 == 0"
  std::string text() const { return fmt::format("{}", fmt::join(conditions_, " && ")); }

 private:
  std::vector<std::string> conditions_;
};

}  // namespace cudal1::cuda_code
