// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_device.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace cudal1::sim::test {

// A kernel with a fault, NAME_bad, whose twin is NAME_ok; NAME begins with the kind of the finding.
struct FaultPair {
  std::string kernel, kind;
  std::vector<int> lines;  // that bear the mark
};

inline std::vector<FaultPair> fault_pairs(const std::string& path) {
  static const std::vector<std::string> kinds{"out_of_bounds", "misaligned", "shared_race", "divergent_barrier", "bad_warp_mask", "in_flight_read", "other"};
  std::vector<FaultPair> found;
  std::istringstream source(text_of(path));
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.rfind("KERNEL(", 0) == 0) {
      const std::string name = line.substr(7, line.find(')') - 7);
      if (!name.ends_with("_bad")) continue;
      FaultPair fault{name.substr(0, name.size() - 4), "", {}};
      for (const auto& kind : kinds)
        if (name.rfind(kind, 0) == 0) fault.kind = kind;
      found.push_back(fault);
    } else if (line.find("// FAULT") != std::string::npos && !found.empty()) {
      found.back().lines.push_back(number);
    }
  }
  return found;
}

// Whether a finding of the pair's kind is at one of its lines.
inline bool is_found(const FaultPair& fault, const device::RunResult& result) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const outcome::Finding& finding) {
    return outcome::kind_name(finding.kind) == fault.kind && std::find(fault.lines.begin(), fault.lines.end(), finding.line) != fault.lines.end();
  });
}

inline std::string seen(const device::RunResult& result) {
  std::string text;
  for (const auto& finding : result.findings) text += outcome::render(finding);
  return text + result.message;
}

}  // namespace cudal1::sim::test
