// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cudal1::cli {

using Tunables = std::map<std::string, std::int64_t>;

// One combination of a kernel's tunables, judged.
struct TunedConfiguration {
  Tunables tunables;
  outcome::Judgement judgement;
  std::string timestamp;         // UTC
  bool remembered = false;       // judged by an earlier run of `tune`

  double ms() const;             // geometric mean over the workloads; 0 where it is not right
};

std::string label(const Tunables& tunables);   // "BLOCK=128 VEC=4"

// What earlier runs judged of the same file on the same GPU: one line of JSON each.
class TunedCache {
 public:
  explicit TunedCache(std::filesystem::path file);
  std::vector<TunedConfiguration> read() const;   // lines that cannot be read are left out
  void add(const TunedConfiguration& configuration) const;
  void forget() const;

 private:
  std::filesystem::path file_;
};

// What is printed and written.
struct TuningSummary {
  std::string task, device;
  bool predicted = false, exhaustive = false;
  std::size_t combinations = 0;                  // that the conditions allow
  std::string stopped_because;                   // "all", "budget", "time limit", "interrupted"
  Tunables first;                                // combination of the file: what 1.00x means
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tunables;
  std::vector<TunedConfiguration> configurations;
  std::size_t best = 0;                          // of these; beyond the end: none is right
  outcome::Judgement final_judgement;            // of the best
  std::string race;                              // what a race said, one sentence; empty: there was none
};
std::string tuning_json(const TuningSummary& summary);
// The results file of the T4 format, version 1.0.0: github.com/odgaard/TuningSchema.
std::string t4_results(const TuningSummary& summary);

}  // namespace cudal1::cli
