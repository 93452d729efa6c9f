// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/options.hpp"
#include "task/task.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::store {

// What makes two commands the same run. The number of rounds and the reasons to stop early are not part of it, so the
// same command with more rounds goes on where the run ended.
struct Identity {
  std::string task_name;
  std::string task_path;            // as given, for messages
  std::string task_digest;
  std::string task_source;          // the kernel file, so that the folder alone can be reported and replayed
  std::string device;               // "sim:H200", "NVIDIA H200"
  std::string driver;               // empty on the simulator
  std::string version;              // of cudal1
  std::string prompts_digest;
  std::vector<std::string> models;  // as named in --model
  std::uint64_t seed = 1;
  int samples = 4, exemplars = 2;
  double tau = 0.1, bucket_width = 0.15;
  std::string sampling = "buckets";
  bool repair = true;
  std::string hint;
  std::string start_from_digest;    // of a file, or a model's name; empty: none
  bool show_scores = true;
  std::string precision = "fp32";   // the class that variants are held to

  std::string digest() const;       // 64 hexadecimal digits over everything but path, version and driver
};

Identity identity(const task::Task& task, const search::Options& options, std::vector<std::string> models,
                  std::string device, std::string driver, std::string version, std::string prompts_digest);

// `cudal1-runs/<task>-<first 8 digits of the digest>` under `base`: where a run lives unless --out says otherwise.
std::filesystem::path default_folder(const Identity& identity, const std::filesystem::path& base = ".");

}  // namespace cudal1::store
