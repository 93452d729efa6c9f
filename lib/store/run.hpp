// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/result.hpp"
#include "store/identity.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::store {

// A run read back from its folder, finished or not: all that a report needs.
struct Run {
  std::filesystem::path folder;
  Identity identity;
  std::string begun, ended;                       // UTC; ended is empty while it runs or when it was killed
  search::Result result;                          // as far as the journal goes
  bool complete = false;                          // a final line says why it stopped
  double judging_seconds = 0, model_seconds = 0;  // summed over all executions
  std::string best_file;                          // path of best.cu; empty when nothing is right yet
};

// Throws base::Error(bad_input): no run there, a journal of another schema, or a damaged line before the last.
Run load(const std::filesystem::path& folder);

// A run's headline, without reading its variants in full.
struct Summary {
  std::filesystem::path folder;
  std::string task, device, begun;
  std::vector<std::string> models;
  int rounds = 0, judged = 0;
  std::string state;                // "finished", "waits for replies", "interrupted", "running", "stopped: …"
  std::string verdict;              // of the best; empty: nothing right yet
  double score = 0;
};

// Every run under `base`/cudal1-runs (or directly under `base`), newest first; what is no run is left out.
std::vector<Summary> list(const std::filesystem::path& base);

}  // namespace cudal1::store
