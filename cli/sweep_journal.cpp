// SPDX-License-Identifier: Apache-2.0
#include "sweep_journal.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view identity_begins = "{\"schema\":";   // no row does

json to_value(const SweepIdentity& identity) {
  return {{"schema", 1}, {"device", identity.device}, {"models", identity.models}, {"options", identity.options},
          {"shard", identity.shard}, {"shards", identity.shards}, {"tasks", identity.tasks}};
}

// Of two lists with the same separators, the entries that are not alike.
std::pair<std::string, std::string> differing(const std::string& was, const std::string& is) {
  auto then = option_entries(was), now = option_entries(is);
  if (then.size() != now.size()) return {was, is};
  for (std::size_t i = then.size(); i-- > 0;)
    if (then[i] == now[i]) {
      then.erase(then.begin() + static_cast<std::ptrdiff_t>(i));
      now.erase(now.begin() + static_cast<std::ptrdiff_t>(i));
    }
  return {fmt::format("{}", fmt::join(then, "; ")), fmt::format("{}", fmt::join(now, "; "))};
}

}  // namespace

std::vector<std::string> option_entries(const std::string& options) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at <= options.size();) {
    const std::size_t end = std::min(options.find("; ", at), options.size());
    result.push_back(options.substr(at, end - at));
    at = end + 2;
  }
  return result;
}

std::vector<ReadSweep> read_sweeps(const std::filesystem::path& place) {
  const auto path = std::filesystem::is_directory(place) ? place / "journal.jsonl" : place;
  if (!std::filesystem::exists(path))
    throw base::Error(base::Fault::missing, fmt::format("{} holds no sweep (there is no journal.jsonl)", place.string()));
  const std::string text = base::read_file(path);
  std::vector<ReadSweep> result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;  // cut short by a kill: that task runs again
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!result.empty() && !line.starts_with(identity_begins)) {
      auto row = report::sweep_row_from_json(line);
      std::string key = row.key;
      result.back().rows[std::move(key)] = std::move(row);
      continue;
    }
    try {
      const json value = json::parse(line);
      if (value.at("schema") != 1) throw base::Error(base::Fault::bad_task, fmt::format("{} is of another schema", path.string()));
      result.push_back({{value.at("device"), value.at("models"), value.at("options"), value.at("shard"), value.at("shards"), value.at("tasks")}, {}});
    } catch (const json::exception& problem) {
      throw base::Error(base::Fault::bad_task, fmt::format("{} does not begin as a sweep: {}", path.string(), problem.what()));
    }
  }
  if (result.empty()) throw base::Error(base::Fault::bad_task, fmt::format("{} does not begin as a sweep: it is empty", path.string()));
  return result;
}

SweepJournal::SweepJournal(const std::filesystem::path& folder, const SweepIdentity& identity) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw base::Error(base::Fault::not_written, fmt::format("{} cannot be created: {}; name another folder with --out", folder.string(), problem.message()));
  const auto path = folder / "journal.jsonl";
  std::string fresh = to_value(identity).dump() + "\n";
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0) {
    const std::string before = base::read_file(path);
    if (before.find('\n') != std::string::npos) {
      auto read = read_sweeps(folder).at(0);
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

}  // namespace cudal1::cli
