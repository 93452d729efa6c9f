// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::cli {

// Somebody's published answer to one task.
struct PublishedAnswer {
  int level = 0, id = 0, sample = 0;        // 0 where nothing tells; samples count from 0
  std::string path;                         // in a folder: below it, with its level; else empty
  std::string origin;                       // "h100.json:19", or the file
  std::optional<std::string> source;        // empty: an entry without code
  std::string task;                         // the text that it was published for; empty: not told
  std::map<std::string, double> claimed;    // by baseline, as the sweep names them: baseline time over the answer's
};

// CUDA-L1's released JSON (one entry a line, or by level), KernelBench's runs (level_L_problem_P_sample_S_kernel.py with
// eval_results.json), or files with a ModelNew. Throws base::Error(bad_input) for what is none of these.
std::vector<PublishedAnswer> read_answers(const std::filesystem::path& place);

}  // namespace cudal1::cli
