// SPDX-License-Identifier: Apache-2.0
// shadow_truth CUDAL1 TASK… : what the simulator's shadows say is right (judge/shadow_oracle.hpp) beside what the torch line says, and what
// a run with shadows costs beside a plain one. One JSON object per task and check size.
#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "judge/candidate.hpp"
#include "judge/meant_source.hpp"
#include "judge/shadow_oracle.hpp"
#include "reference/buffers.hpp"
#include "reference/trial.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <exception>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using nlohmann::json;

namespace {

// Of this process, so that what else the machine does is left out.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of(device::Device& device, reference::Buffers& buffers, const device::Module& module, const std::optional<sim::ShadowMode>& mode) {
  double least = HUGE_VAL;
  for (int turn = 0; turn < 5; ++turn) {
    buffers.restore_inouts();
    buffers.poison(reference::Buffers::Fill::nan);
    const double began = processor_seconds();
    if (mode) sim::run_shadowed(device, buffers.bind(module), *mode, 1);
    else device.run(buffers.bind(module), {.checks = false});
    least = std::min(least, processor_seconds() - began);
  }
  return least;
}

void print(const task::Task& task, compile::Compiler& compiler) {
  const auto candidate = judge::candidate_of(task.file).value();
  const auto built = judge::build(task, candidate, candidate.family.front(), compiler, "sm_90");
  if (!built) {
    fmt::print("{}\n", json{{"task", task.name()}, {"problem", built.error().message}}.dump());
    return;
  }
  const outcome::Binary meant = judge::build_meant(task, candidate.family.front(), *built, compiler, "sm_90");
  const outcome::Binary& shown = meant.ptx.empty() ? built->binary : meant;
  for (std::size_t size = 0; size < task.checks.size(); ++size) {
    const task::Workload& workload = task.checks[size];
    judge::ShadowOracle oracle(task, shown, 7);
    const auto inputs = reference::inputs(task, workload, {reference::Pattern::declared, 7});
    const auto shadow = oracle.truth(workload, built->checks[size], inputs, outcome::Precision::fp32);
    json row{{"task", task.name()}, {"sizes", workload.label()}, {"meant", !meant.ptx.empty()}};
    if (!shadow) {
      row["problem"] = oracle.problem();
      fmt::print("{}\n", row.dump());
      continue;
    }
    const auto torch = reference::oracle(task, workload, inputs, reference::Soundness{outcome::Precision::fp32, 16, 7}, 1);
    double error = 0, norm = 0, ours = 0, theirs = 0;
    for (std::size_t k = 0; torch && k < torch->size(); ++k)
      for (std::size_t i = 0; i < (*shadow)[k].truth.size(); ++i) {
        const double truth = (*torch)[k].truth[i];
        if (!std::isfinite(truth)) continue;
        error += std::pow((*shadow)[k].truth[i] - truth, 2), norm += truth * truth;
        ours += std::pow((*shadow)[k].sigma[i], 2), theirs += std::pow((*torch)[k].sigma[i], 2);
      }
    const auto device = sim::open({.gpu = "H200", .threads = 1});
    const auto module = device->load(built->binary).value(), shadowed = device->load(shown).value();
    base::Random random(7, 1);
    reference::Buffers buffers(*device, built->checks[size], random);
    buffers.load(inputs);
    const double plain = seconds_of(*device, buffers, *module, std::nullopt);
    row["relative"] = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
    row["sigma_ratio"] = theirs > 0 ? std::sqrt(ours / theirs) : 0;
    row["shadowed"] = oracle.figures.outputs > 0 ? oracle.figures.shadowed / oracle.figures.outputs : 1;
    row["turned"] = oracle.figures.turned;
    row["plain_ms"] = 1e3 * plain;
    row["cost"] = seconds_of(*device, buffers, *shadowed, sim::ShadowMode::exact) / plain;
    row["cost_disturbed"] = seconds_of(*device, buffers, *shadowed, sim::ShadowMode::disturbed) / plain;
    row["floats"] = oracle.figures.outputs;
    fmt::print("{}\n", row.dump());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  compile::CompilerOptions options;
  options.worker = {arguments[1], {"worker", "compile"}};
  options.sandbox = compile::sandbox_state().available;
  compile::Compiler compiler(options);
  for (int k = 2; k < count; ++k) {
    try {
      print(task::load(arguments[k]), compiler);
    } catch (const std::exception& error) {
      fmt::print("{}\n", json{{"task", arguments[k]}, {"problem", error.what()}}.dump());
    }
  }
  return 0;
}
