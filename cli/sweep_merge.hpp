// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard.hpp"

#include "report/sweep.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace cudal1::cli {

// The sweeps in these folders or journals as one table. Shards of one sweep are joined; sweeps on other devices, with other
// models, with other options or over other texts of the same tasks are kept apart, each row named after what differs. Missing
// shards, tasks that are not finished and tasks measured twice are remarked on. With `only` the other shards are none of it.
report::Sweep merge(const std::vector<std::filesystem::path>& places, const std::optional<Shard>& only = std::nullopt);

}  // namespace cudal1::cli
