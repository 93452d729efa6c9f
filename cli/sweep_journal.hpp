// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.hpp"
#include "report/sweep.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::cli {

// What a sweep is; a journal of another identity is not gone on with.
struct SweepIdentity {
  std::string device, models, options;   // options: everything else that changes a result, as text
  int shard = 1, shards = 1;
  std::vector<std::string> tasks;        // keys of all shards
};

// `journal.jsonl` in a sweep's folder: its identity, then a line for each finished task, flushed before the next begins.
class SweepJournal {
 public:
  // Opens or begins it. Throws base::Error(usage) when another sweep's is there, naming what differs.
  SweepJournal(const std::filesystem::path& folder, const SweepIdentity& identity);

  // Nothing for a task that failed: the next execution tries it again.
  std::optional<report::SweepRow> finished(const std::string& key, const std::string& digest) const;
  void append(const report::SweepRow& row);

 private:
  std::map<std::string, report::SweepRow> rows_;   // the last line of each key
  std::unique_ptr<base::AppendFile> file_;
};

struct ReadSweep {
  SweepIdentity identity;
  std::map<std::string, report::SweepRow> rows;
};
// Of a sweep's folder or of its journal, which may hold several sweeps one after the other. Throws base::Error(bad_input):
// no sweep there, or a damaged line before the last.
std::vector<ReadSweep> read_sweeps(const std::filesystem::path& place);

// "rounds 1; samples 2", by its parts.
std::vector<std::string> option_entries(const std::string& options);

}  // namespace cudal1::cli
