// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace cudal1::cli {

// A part of a batch. Which task belongs to which shard depends on its key alone, so new tasks move no others.
struct Shard {
  int index = 1, count = 1;   // index from 1
  std::string source;         // "--shard", "SLURM_ARRAY_TASK_ID"

  bool owns(const std::string& key) const;
};

// "2/4", or "auto": CUDAL1_SHARD and CUDAL1_SHARDS, a Slurm array, a Kubernetes index with CUDAL1_SHARDS, or
// GTEST_SHARD_INDEX, whichever is set first; else the whole. Throws base::Error(usage) for what is half set or no shard.
Shard parse_shard(const std::string& text, const std::function<const char*(const char*)>& environment);

}  // namespace cudal1::cli
