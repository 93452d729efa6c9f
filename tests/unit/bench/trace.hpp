// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Times of pairs of one kernel against itself, as a GPU gave them: the truth of every comparison within is 1. One file
// holds several: a line "kernel NAME tick_ns T span_ns S", then one line per pair, the reference's and the variant's
// nanoseconds. S is the shortest time on the clock behind any sample.
struct Trace {
  std::string kernel;
  double tick_ms = 0, span_ms = 0;
  std::vector<std::pair<double, double>> pairs;  // milliseconds

  // Samples as the judge gets them.
  std::vector<cudal1::device::Sample> samples(std::size_t from, std::size_t to) const {
    std::vector<cudal1::device::Sample> result;
    for (std::size_t i = from; i < to; ++i) {
      result.push_back({0, 0, pairs[i].first, span_ms, 0, 0});
      result.push_back({1, 0, pairs[i].second, span_ms, 0, 0});
    }
    return result;
  }
};

inline std::vector<Trace> read_traces(const std::string& path) {
  std::vector<Trace> traces;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with("kernel")) {
      Trace& trace = traces.emplace_back();
      words >> word >> trace.kernel >> word >> trace.tick_ms >> word >> trace.span_ms;
      trace.tick_ms *= 1e-6;
      trace.span_ms *= 1e-6;
    } else if (!traces.empty()) {
      auto& [reference, variant] = traces.back().pairs.emplace_back();
      words >> reference >> variant;
      reference *= 1e-6;
      variant *= 1e-6;
    }
  }
  return traces;
}
