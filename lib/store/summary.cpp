// SPDX-License-Identifier: Apache-2.0
#include "store/summary.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "store/folder_lock.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace fs = std::filesystem;

namespace {

using json = nlohmann::ordered_json;
constexpr int summary_schema = 1;

}  // namespace

void write_summary(const Summary& summary) {
  const json value = {{"schema", summary_schema},          {"task", summary.task},       {"device", summary.device},
                      {"begun", summary.begun},    {"models", summary.models},   {"rounds", summary.rounds},
                      {"judged", summary.judged},  {"stopped_because", summary.stopped_because},
                      {"best_verdict", summary.verdict}, {"best_score", summary.score}};
  base::write_file(summary.folder / "run.json", value.dump(2, ' ', false, json::error_handler_t::replace) + '\n');
}

std::optional<Summary> read_summary(const fs::path& folder) {
  std::error_code none;
  if (!fs::exists(folder / "run.json", none) || !fs::exists(folder / "journal.jsonl", none)) return std::nullopt;
  try {
    const json value = json::parse(base::read_file(folder / "run.json", std::size_t{1} << 20));
    if (value.at("schema") != summary_schema) return std::nullopt;
    Summary summary{.folder = folder,
                    .task = value.at("task"),
                    .device = value.at("device"),
                    .begun = value.at("begun"),
                    .models = value.at("models").get<std::vector<std::string>>(),
                    .rounds = value.at("rounds"),
                    .judged = value.at("judged"),
                    .stopped_because = value.at("stopped_because"),
                    .verdict = value.at("best_verdict"),
                    .score = value.at("best_score")};
    summary.running = FolderLock::held(folder);
    return summary;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

std::vector<Summary> list(const fs::path& base) {
  std::vector<Summary> runs;
  std::error_code none;
  if (auto summary = read_summary(base)) return {*std::move(summary)};
  for (const auto& place : {base, base / "cudal1-runs"})
    for (const auto& entry : fs::directory_iterator(place, none))
      if (entry.is_directory(none))
        if (auto summary = read_summary(entry.path())) runs.push_back(*std::move(summary));
  std::sort(runs.begin(), runs.end(), [](const Summary& a, const Summary& b) {
    return a.begun != b.begun ? a.begun > b.begun : a.folder < b.folder;
  });
  return runs;
}

}  // namespace cudal1::store
