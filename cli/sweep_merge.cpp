// SPDX-License-Identifier: Apache-2.0
#include "sweep_merge.hpp"

#include "sweep_journal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

struct Placed {
  std::string place;   // its folder's name, for where nothing else tells two apart
  ReadSweep read;
};

// Several journals that are one sweep: its shards.
struct Joined {
  std::vector<Placed> parts;
  std::string label;

  const SweepIdentity& identity() const { return parts.front().read.identity; }
};

std::string place_name(const std::filesystem::path& place) {
  const auto path = std::filesystem::absolute(place).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

// Whether a task of both has another text, or other sizes.
bool another_text(const ReadSweep& a, const ReadSweep& b) {
  return std::any_of(a.rows.begin(), a.rows.end(), [&](const auto& row) {
    const auto same = b.rows.find(row.first);
    return same != b.rows.end() && !row.second.digest.empty() && !same->second.digest.empty() && same->second.digest != row.second.digest;
  });
}

std::vector<Joined> join(const std::vector<std::filesystem::path>& places) {
  std::vector<Joined> result;
  for (const auto& place : places)
    for (ReadSweep& read : read_sweeps(place)) {
      const auto& identity = read.identity;
      const auto same = std::find_if(result.begin(), result.end(), [&](const Joined& joined) {
        const auto& other = joined.identity();
        return std::tie(other.device, other.models, other.options) == std::tie(identity.device, identity.models, identity.options) &&
               std::none_of(joined.parts.begin(), joined.parts.end(), [&](const Placed& part) { return another_text(part.read, read); });
      });
      Joined& joined = same == result.end() ? result.emplace_back() : *same;
      joined.parts.push_back({place_name(place), std::move(read)});
    }
  return result;
}

// Names each after what the others do not share.
void label(std::vector<Joined>& sweeps) {
  if (sweeps.size() < 2) return;
  std::set<std::string> devices, models;
  std::map<std::string, std::size_t> options;   // entry → how many have it
  for (const Joined& each : sweeps) {
    devices.insert(each.identity().device);
    models.insert(each.identity().models);
    for (const auto& entry : option_entries(each.identity().options)) ++options[entry];
  }
  std::map<std::string, int> used;
  for (Joined& each : sweeps) {
    std::vector<std::string> words;
    if (devices.size() > 1) words.push_back(each.identity().device);
    if (models.size() > 1) words.push_back(each.identity().models);
    for (const auto& entry : option_entries(each.identity().options))
      if (options[entry] < sweeps.size()) words.push_back(entry);
    each.label = fmt::format("{}", fmt::join(words, ", "));
    ++used[each.label];
  }
  for (Joined& each : sweeps)
    if (used[each.label] > 1) each.label += fmt::format("{}{}", each.label.empty() ? "" : ", ", each.parts.front().place);
  used.clear();
  for (Joined& each : sweeps)
    if (const int number = ++used[each.label]; number > 1) each.label += fmt::format(" ({})", number);
}

// Adds a sweep's rows, and remarks on what they lack.
void add(const Joined& joined, const std::optional<Shard>& only, report::Sweep& result) {
  const std::string of = joined.label.empty() ? "" : joined.label + ": ";
  std::map<std::string, report::SweepRow> rows;
  std::set<int> shards;
  std::set<std::string> expected, twice;
  int count = 1;
  for (const auto& [place, read] : joined.parts) {
    shards.insert(read.identity.shard);
    count = std::max(count, read.identity.shards);
    expected.insert(read.identity.tasks.begin(), read.identity.tasks.end());
    for (const auto& [key, row] : read.rows) {
      if (rows.contains(key)) twice.insert(key);
      auto& kept = rows[key] = row;
      kept.sweep = joined.label;
      if (kept.models.empty()) kept.models = read.identity.models;
      if (kept.device.empty()) kept.device = read.identity.device;
    }
  }
  if (!twice.empty())
    result.remarks.push_back(fmt::format("{}{} task{} measured twice, and the last row counts: {}.", of, twice.size(), twice.size() == 1 ? " was" : "s were",
                                         fmt::join(twice, ", ")));
  for (int shard = 1; shard <= count && !only; ++shard)
    if (!shards.contains(shard)) result.remarks.push_back(fmt::format("{}Shard {}/{} is missing.", of, shard, count));
  std::erase_if(expected, [&](const std::string& key) { return rows.contains(key) || (only && !only->owns(key)); });
  if (!expected.empty())
    result.remarks.push_back(
        fmt::format("{}{} task{} not finished: {}.", of, expected.size(), expected.size() == 1 ? " is" : "s are", fmt::join(expected, ", ")));
  for (auto& [key, row] : rows) result.rows.push_back(std::move(row));
}

}  // namespace

report::Sweep merge(const std::vector<std::filesystem::path>& places, const std::optional<Shard>& only) {
  std::vector<Joined> sweeps = join(places);
  label(sweeps);
  report::Sweep result;
  std::set<std::string> devices, models;
  for (const Joined& each : sweeps) {
    devices.insert(each.identity().device);
    models.insert(each.identity().models);
    add(each, only, result);
  }
  result.device = fmt::format("{}", fmt::join(devices, ", "));
  result.models = fmt::format("{}", fmt::join(models, "; "));
  std::sort(result.rows.begin(), result.rows.end(),
            [](const auto& a, const auto& b) { return std::tie(a.sweep, a.level, a.id, a.key) < std::tie(b.sweep, b.level, b.id, b.key); });
  return result;
}

}  // namespace cudal1::cli
