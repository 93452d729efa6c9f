// SPDX-License-Identifier: Apache-2.0
#include "sweep_export.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

// "cudaError_t name(const float* x, cudaStream_t stream)": the host function of an output file.
std::string declaration(const std::string& source, const std::filesystem::path& file) {
  const auto begin = source.find("\ncudaError_t ");
  const auto end = begin == std::string::npos ? begin : source.find(") {", begin);
  if (end == std::string::npos)
    throw base::Error(base::Fault::internal, fmt::format("{} has no host launch function", file.string()));
  return source.substr(begin + 1, end - begin) + ";";
}

void export_host(const std::filesystem::path& folder, const OpenTask& open, const std::filesystem::path& best) {
  const std::string name = open.task.name();
  const std::string source = base::read_file(best);
  base::write_file(folder / (name + ".cu"), source);   // as it is, so that it can be verified again
  base::write_file(folder / (name + ".h"), fmt::format("#pragma once\n\n#include <cuda_runtime.h>\n\n// Pointers are device pointers; "
                                                       "the sizes are those that {}.cu names.\n{}\n",
                                                       name, declaration(source, best)));
}

std::filesystem::path level_folder(const Export& where, int level) {
  return where.folder / "export" / "kernelbench" / "runs" / fmt::format("level{}", level);
}

}  // namespace

void export_answer(const Export& where, const SweepTask& task, const OpenTask& open, const std::filesystem::path& best) {
  if (where.form == "host") return export_host(where.folder / "export" / "host", open, best);
  if (!task::is_module(open.task)) return;
  const std::string text = open.pytorch->exported(where.form, base::read_file(best));
  const auto path = where.form == "torch"
                        ? where.folder / "export" / "torch" / (open.task.name() + ".py")
                        : level_folder(where, task.level) / fmt::format("level_{}_problem_{}_sample_0_kernel.py", task.level, task.id);
  base::write_file(path, text);
}

void finish_export(const Export& where, const report::Sweep& sweep) {
  if (where.form != "kernelbench") return;
  std::map<int, json> results;
  std::map<std::string, json> baselines;   // as KernelBench's own timing of them writes it: level → file → milliseconds
  for (const auto& row : sweep.rows) {
    if (!row.key.ends_with(".py")) continue;
    const bool right = row.status == report::SweepRow::Status::verified;
    const bool timed = right && !row.predicted && row.time_ms > 0;
    json metadata = {{"hardware", row.device}, {"cudal1_verdict", row.verdict}, {"cudal1_task_sha256", row.digest}};
    results[row.level][std::to_string(row.id)] = json::array({{{"sample_id", 0},
                                                               {"compiled", right},
                                                               {"correctness", right},
                                                               {"metadata", metadata},
                                                               {"runtime", timed ? row.time_ms : -1.0},  // -1: not measured
                                                               {"runtime_stats", timed ? json{{"mean", row.time_ms}} : json::object()}}});
    if (!timed) continue;
    for (const auto& [baseline, ratio] : row.ratios)
      if (ratio.failed.empty())
        baselines[baseline][fmt::format("level{}", row.level)][std::filesystem::path(row.key).filename().string()] = {
            {"mean", ratio.value * row.time_ms}};
  }
  for (const auto& [level, result] : results) base::write_file(level_folder(where, level) / "eval_results.json", result.dump(1) + "\n");
  for (auto& [baseline, times] : baselines) {
    std::string name = baseline;
    std::replace(name.begin(), name.end(), '/', '-');
    base::write_file(where.folder / "export" / "kernelbench" / "results" / "timing" / "cudal1" / fmt::format("baseline_{}.json", name),
                     times.dump(1) + "\n");
  }
}

}  // namespace cudal1::cli
