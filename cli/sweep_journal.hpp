// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard.hpp"

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
// Throws base::Error(bad_input): no sweep there, or a damaged line before the last.
ReadSweep read_sweep(const std::filesystem::path& folder);

// One sweep of its shards: tasks measured twice, missing shards and different devices are remarked on. With `only` the
// other shards are none of it.
report::Sweep merge(const std::vector<std::filesystem::path>& folders, const std::optional<Shard>& only = std::nullopt);

}  // namespace cudal1::cli
