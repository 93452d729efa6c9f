// SPDX-License-Identifier: Apache-2.0
#include "gpu_matrix.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cuda/cuda.hpp"
#include "outcome/speedup_text.hpp"
#include "report/gpu_matrix.hpp"
#include "sim/sim.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

std::string capability(const outcome::DeviceFacts& facts) { return fmt::format("{}.{}", facts.major, facts.minor); }

// The GPU that is measured beside the predictions: one that is named must be there, with auto one that is.
std::optional<DeviceChoice> real_device(const DeviceOptions& options) {
  if (options.device == "sim") return std::nullopt;
  if (options.device == "auto" && cuda::inventory().devices.empty()) return std::nullopt;
  return choose_device(options);
}

// A fault of the task on this GPU is a row of the table; a fault of the task everywhere is told by the first.
bool of_this_gpu(base::Fault fault) {
  return fault == base::Fault::bad_input || fault == base::Fault::bad_task || fault == base::Fault::usage;
}

std::vector<report::GpuRow> rows(const std::vector<JudgedOnGpu>& all) {
  std::vector<report::GpuRow> rows;
  for (const auto& one : all)
    rows.push_back({one.record.name, capability(one.record.facts), one.measured, sim::compared(one.record.facts), one.problem, one.judged.judgements});
  return rows;
}

json as_json(const std::vector<JudgedOnGpu>& all) {
  json gpus = json::array();
  std::string task;
  for (const auto& one : all) {
    json row{{"gpu", one.record.name},
             {"name", one.record.facts.name},
             {"compute_capability", capability(one.record.facts)},
             {"measured", one.measured},
             {"fitted", !one.measured && sim::fitted(one.record.facts)},
             {"compared", !one.measured && sim::compared(one.record.facts)},
             {"problem", one.problem.empty() ? json() : json(one.problem)}};
    if (one.problem.empty()) {
      json judged = to_json(one.judged);
      task = one.judged.task;
      judged.erase("schema"), judged.erase("task");
      row.update(judged);
    }
    gpus.push_back(std::move(row));
  }
  return {{"schema", 1}, {"task", task}, {"gpus", gpus}};
}

// Each GPU takes its time, because everything is judged again with the code for that GPU.
std::string found(const JudgedOnGpu& one, std::size_t number, std::size_t of, base::Seconds took) {
  std::string text;
  for (const auto& [name, judgement] : one.judged.judgements)
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, outcome::name(judgement.verdict, judgement.predicted),
                        judgement.speedup ? " " + outcome::text(*judgement.speedup) : "");
  return fmt::format("GPU {} of {}, {}: {} ({:.0f} s)", number, of, one.record.name, text, took.count());
}

}  // namespace

std::vector<JudgedOnGpu> judge_on_gpus(const JudgedVariantsOptions& options, const Console& console) {
  std::vector<JudgedOnGpu> all;
  std::vector<DeviceChoice> choices;
  for (const GpuRecord& record : gpu_list(options.device.gpu)) {
    all.push_back({record, false, "", {}});
    choices.push_back(predicting_for(record));
  }
  DeviceOptions named = options.device;
  named.gpu = all.front().record.name;
  if (const auto real = real_device(named)) {
    all.insert(all.begin(), {{real->facts.name, real->facts, "", false}, true, "", {}});
    choices.insert(choices.begin(), *real);
  }
  for (std::size_t i = 0; i < all.size(); ++i) try {
      const base::Seconds begin = base::now();
      all[i].judged = judge_on(choices[i], options, console);
      console.note(found(all[i], i + 1, all.size(), base::now() - begin));
    } catch (const base::Error& error) {
      if (!of_this_gpu(error.fault())) throw;
      all[i].problem = error.what();
      console.warn(fmt::format("{}: {}", all[i].record.name, error.what()));
      if (std::all_of(all.begin(), all.end(), [](const JudgedOnGpu& one) { return !one.problem.empty(); })) throw;
    }
  if (options.as_json) console.result(as_json(all).dump(2) + "\n");
  else console.print(report::gpu_matrix(rows(all), {console.colour(stdout), console.width(stdout)}));
  return all;
}

}  // namespace cudal1::cli
