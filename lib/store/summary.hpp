// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::store {

// A run's headline, kept in run.json so that listing runs reads no journal.
struct Summary {
  std::filesystem::path folder;
  std::string task, device, begun;
  std::vector<std::string> models;
  int rounds = 0, judged = 0;
  std::string stopped_because;      // "rounds", "pending"; empty: it runs, or it was killed
  bool running = false;             // a process works in the folder
  std::string verdict;              // of the best; empty: nothing right yet
  double score = 0;
};

void write_summary(const Summary& summary);                                        // to folder/run.json
std::optional<Summary> read_summary(const std::filesystem::path& folder);          // empty: no run there

// The run that `base` is, or every run directly under `base` or under `base`/cudal1-runs, newest first; what is no run is left out.
std::vector<Summary> list(const std::filesystem::path& base);

}  // namespace cudal1::store
