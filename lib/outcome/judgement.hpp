// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "outcome/counters.hpp"
#include "outcome/finding.hpp"
#include "outcome/resource_facts.hpp"
#include "outcome/verdict.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::outcome {

// One element that differs from what is right.
struct WrongElement {
  std::string output;
  std::vector<std::int64_t> index;
  double expected = 0, got = 0;
};

// Largest errors over all trials, against y64 (or the reference where there is no oracle).
struct ErrorFigures {
  double relative_l2 = 0;            // ‖y − y64‖₂ / ‖y64‖₂
  double max_absolute = 0;
  double reference_relative_l2 = 0;  // the reference's own
  int trials = 0;
  // The least tolerance at which KernelBench's comparison (allclose with PyTorch's output, atol = rtol) passes for every
  // input that it would draw; negative where the task is no PyTorch module.
  double kernelbench_tolerance = -1;
  // Elements of the outputs at the declared sizes, and how many of them were compared with the truth; 0: not counted.
  double outputs = 0, verified_outputs = 0;
};

// One workload's (one `size` line's) timing.
struct WorkloadTiming {
  std::map<std::string, std::int64_t> sizes;
  double reference_ms = 0, variant_ms = 0;
  Speedup speedup;
  int pairs = 0;                     // of measurements; 0 for a prediction
  double hot_speedup = 0;            // caches warm; 0: not measured
  double share_of_limit = 0;         // of the speed of light, 0 … 1
  std::string limited_by;            // "memory bandwidth", "uncoalesced global loads, line 12"
  double share_of_bandwidth = 0;     // the task's necessary bytes over the time, of the device's memory rate
  double share_of_arithmetic = 0;    // the task's arithmetic as written, of the FP32 peak; above 1 when algebra removed some
};

// PyTorch's own time for the task by one way to run it, and the variant's speed-up over it.
struct BaselineTiming {
  std::string name;                  // "eager", "compile", "graph/fp32"
  double ms = 0;
  std::optional<Speedup> speedup;    // of a variant that was timed in turns with it
  double prepare_seconds = 0;        // to compile, capture or warm it up, once
  std::string failed;                // why it cannot be had: one sentence; empty: it can
};

// One member of a family of tunables that was tried.
struct TriedMember {
  std::map<std::string, std::int64_t> tunables;
  double ms = 0;                     // at the first workload; 0: it has no time
  std::string problem;               // why it is not right: one sentence
};

// Everything known about one variant: the verdict and its evidence.
struct Judgement {
  Verdict verdict = Verdict::inconclusive;
  bool predicted = false;            // times come from the simulator's model
  Level level = Level::screening;
  std::set<Label> labels;
  std::string message;               // one line: why this verdict
  std::optional<Speedup> speedup;    // geometric mean over the workloads; only when right
  std::vector<WorkloadTiming> workloads;
  std::vector<BaselineTiming> baselines;  // PyTorch's, where it is there; the reference's judgement has all of them
  std::map<std::string, std::int64_t> tunables;  // the family member judged best
  std::vector<TriedMember> members;  // of the family, where it has several
  std::string code;                  // digest of the machine code and how the plan launches it: equal where answers differ in their text alone; empty: not known
  double energy_mj = 0;              // of one execution at the first workload, in millijoules; 0: not measured

  std::vector<ResourceFacts> resources;
  double occupancy = 0;              // of the plan's longest launch, 0 … 1
  std::string occupancy_limited_by;
  Counters counters;                 // summed over the plan; zeros where not counted
  std::map<std::string, double> hardware;  // of a peak, 0 … 1, by name, and rates; on the simulator what it predicts; empty: not known
  std::string hardware_problem;      // why it was not, where that was tried: one sentence
  LineCounters hot_lines;            // at most eight
  base::Diagnostics diagnostics;     // compiler or plan
  std::vector<Finding> findings;
  std::optional<WrongElement> first_wrong, worst_wrong;
  ErrorFigures errors;
  std::string sanitizer;             // "passed", "found", "absent", "refused", "too slow"; empty: not asked for
  double seconds = 0;                // wall time spent on judging, without waiting for other users of the device
  std::map<std::string, double> step_seconds;  // of it, by step; "wait" comes on top

  double score() const { return speedup ? speedup->value : 0; }  // 0 when not right
};

// JSON with a schema number and units in the key names; documented in cudal1-json(5). The inverse throws base::Error
// (bad_input) on another schema.
std::string to_json(const Judgement& judgement);
Judgement judgement_from_json(std::string_view text);

}  // namespace cudal1::outcome
