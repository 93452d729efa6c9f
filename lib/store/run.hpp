// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/result.hpp"
#include "store/command.hpp"
#include "store/identity.hpp"
#include "store/summary.hpp"

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
  std::optional<Command> command;                 // that it was last given
  std::string best_file;                          // path of best.cu; empty when nothing is right yet
};

// Throws base::Error(bad_input): no run there, a journal of another schema, or a damaged line before the last.
Run load(const std::filesystem::path& folder);

}  // namespace cudal1::store
