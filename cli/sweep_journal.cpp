// SPDX-License-Identifier: Apache-2.0
#include "sweep_journal.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

json to_value(const SweepIdentity& identity) {
  return {{"schema", 1}, {"device", identity.device}, {"models", identity.models}, {"options", identity.options},
          {"shard", identity.shard}, {"shards", identity.shards}, {"tasks", identity.tasks}};
}

// Of two lists with the same separators, the entries that are not alike.
std::pair<std::string, std::string> differing(const std::string& was, const std::string& is) {
  const auto entries = [](const std::string& text) {
    std::vector<std::string> result;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find("; ", at), text.size());
      result.push_back(text.substr(at, end - at));
      at = end + 2;
    }
    return result;
  };
  auto then = entries(was), now = entries(is);
  if (then.size() != now.size()) return {was, is};
  for (std::size_t i = then.size(); i-- > 0;)
    if (then[i] == now[i]) {
      then.erase(then.begin() + static_cast<std::ptrdiff_t>(i));
      now.erase(now.begin() + static_cast<std::ptrdiff_t>(i));
    }
  return {fmt::format("{}", fmt::join(then, "; ")), fmt::format("{}", fmt::join(now, "; "))};
}

void sort(std::vector<report::SweepRow>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return std::tie(a.level, a.id, a.key) < std::tie(b.level, b.id, b.key); });
}

}  // namespace

ReadSweep read_sweep(const std::filesystem::path& folder) {
  const auto path = folder / "journal.jsonl";
  if (!std::filesystem::exists(path))
    throw base::Error(base::Fault::bad_input, fmt::format("{} holds no sweep (there is no journal.jsonl)", folder.string()));
  const std::string text = base::read_file(path);
  ReadSweep result;
  std::size_t at = 0;
  for (bool first = true; at < text.size(); first = false) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // cut short by a kill: that task runs again
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!first) {
      auto row = report::sweep_row_from_json(line);
      std::string key = row.key;
      result.rows[std::move(key)] = std::move(row);
      continue;
    }
    try {
      const json value = json::parse(line);
      if (value.at("schema") != 1) throw base::Error(base::Fault::bad_input, fmt::format("{} is of another schema", path.string()));
      result.identity = {value.at("device"), value.at("models"), value.at("options"), value.at("shard"), value.at("shards"),
                         value.at("tasks")};
    } catch (const json::exception& problem) {
      throw base::Error(base::Fault::bad_input, fmt::format("{} does not begin as a sweep: {}", path.string(), problem.what()));
    }
  }
  return result;
}

SweepJournal::SweepJournal(const std::filesystem::path& folder, const SweepIdentity& identity) {
  std::filesystem::create_directories(folder);
  const auto path = folder / "journal.jsonl";
  std::string fresh = to_value(identity).dump() + "\n";
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0) {
    const std::string before = base::read_file(path);
    if (before.find('\n') != std::string::npos) {
      auto read = read_sweep(folder);
      const auto& old = read.identity;
      for (const auto& [what, was, is] : {std::tuple{"its device was", old.device, identity.device}, {"its models were", old.models, identity.models},
                                          {"its options had", old.options, identity.options},
                                          {"its shard was", fmt::format("{}/{}", old.shard, old.shards),
                                           fmt::format("{}/{}", identity.shard, identity.shards)}})
        if (const auto [then, now] = differing(was, is); then != now)
          throw base::Error(base::Fault::usage, fmt::format("{} holds another sweep: {} {} then, not {}; give another --out", folder.string(),
                                                            what, then, now));
      rows_ = std::move(read.rows);
      fresh.clear();
    }
    // A line that a kill cut short goes, so that the next one begins a line.
    if (!before.empty() && before.back() != '\n') base::write_file(path, before.substr(0, before.rfind('\n') + 1));
  }
  file_ = std::make_unique<base::AppendFile>(path);
  if (!fresh.empty()) file_->append(fresh);
}

std::optional<report::SweepRow> SweepJournal::finished(const std::string& key, const std::string& digest) const {
  const auto found = rows_.find(key);
  if (found == rows_.end() || found->second.digest != digest) return std::nullopt;
  if (found->second.status == report::SweepRow::Status::failed) return std::nullopt;  // it may have been the machine
  return found->second;
}

void SweepJournal::append(const report::SweepRow& row) { file_->append(report::to_json(row) + "\n"); }

report::Sweep merge(const std::vector<std::filesystem::path>& folders, const std::optional<Shard>& only) {
  report::Sweep result;
  std::set<std::string> devices, models, seen;
  std::set<int> shards;
  int count = 1;
  std::vector<std::string> expected;
  for (const auto& folder : folders) {
    const ReadSweep read = read_sweep(folder);
    devices.insert(read.identity.device);
    models.insert(read.identity.models);
    shards.insert(read.identity.shard);
    count = std::max(count, read.identity.shards);
    expected.insert(expected.end(), read.identity.tasks.begin(), read.identity.tasks.end());
    for (const auto& [key, row] : read.rows) {
      if (!seen.insert(key).second) result.remarks.push_back(fmt::format("{} was measured twice; both rows are kept.", key));
      result.rows.push_back(row);
    }
  }
  for (int shard = 1; shard <= count && !only; ++shard)
    if (!shards.contains(shard)) result.remarks.push_back(fmt::format("Shard {}/{} is missing.", shard, count));
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::erase_if(expected, [&](const std::string& key) { return seen.contains(key) || (only && !only->owns(key)); });
  if (!expected.empty())
    result.remarks.push_back(fmt::format("{} task{} not finished: {}.", expected.size(), expected.size() == 1 ? " is" : "s are",
                                         fmt::join(expected, ", ")));
  if (devices.size() > 1) {
    result.remarks.emplace_back("The shards ran on different devices; their times are shown as separate baselines.");
    for (auto& row : result.rows) {
      std::map<std::string, report::SweepRow::Ratio> named;
      for (const auto& [baseline, ratio] : row.ratios) named[fmt::format("{} on {}", baseline, row.device)] = ratio;
      row.ratios = std::move(named);
    }
  }
  result.device = fmt::format("{}", fmt::join(devices, ", "));
  result.models = fmt::format("{}", fmt::join(models, "; "));
  sort(result.rows);
  return result;
}

}  // namespace cudal1::cli
