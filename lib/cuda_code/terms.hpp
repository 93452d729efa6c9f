// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cudal1::cuda_code {

// A sum of C expressions, such as an address.
class Sum {
 public:
  void add(const std::string& term) { terms_.push_back(term); }
  std::string text() const;    // "N + row * M"; "0" where nothing is added
  std::string behind() const;  // " + N + row * M" behind what stands in front; empty where nothing is added

 private:
  std::vector<std::string> terms_;
};

// Conditions that all have to hold, each once.
class Conditions {
 public:
  void require(const std::string& condition);
  std::string text() const;  // "N % 4 == 0 && M % 4 == 0"

 private:
  std::vector<std::string> conditions_;
};

}  // namespace cudal1::cuda_code
