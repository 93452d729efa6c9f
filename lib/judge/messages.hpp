// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/lender.hpp"
#include "kernel/plan.hpp"
#include "reference/stored_case.hpp"
#include "outcome/binary.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"
#include "outcome/precision.hpp"
#include "outcome/task_finding.hpp"
#include "task/task.hpp"
#include "verify/check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// What the judge and its device worker say to each other. Each message is one CBOR object; both ends are this program,
// so the format has no version.
namespace cudal1::judge {

// Opens the device and the task; first, once.
struct OpenJob {
  std::string device, gpu;
  std::optional<outcome::DeviceFacts> own_gpu;
  std::string source, path;                       // of the task
  std::vector<task::Workload> workloads, checks;  // as the judge's task has them
  std::vector<task::Workload> neighbours;
  outcome::Precision precision = outcome::Precision::fp32;
  std::uint64_t seed = 0;
  bool takes_turns = false;                       // the worker itself waits for its turn at the GPU: its parent is on another machine
  bool bare = false;                              // no guards, no poison: a sanitizer looks at the memory itself
};

// A compiled kernel with its plans: one per check size, one per workload, and one per neighbouring size, without steps
// where there is no plan for it.
struct Executable {
  outcome::Binary binary;
  std::vector<kernel::Plan> checks, workloads, neighbours;
};

// Loads the reference, runs it on every trial and keeps what is right. Second, once. The task of a PyTorch module has
// plans of buffers only for `executable`, and its trials are computed already.
struct ReferenceJob {
  Executable executable;
  Executable meant;                               // its kernels as their source means them (meant_source.hpp), for shadows; no plans; may be empty
  int declared_trials = 2;
  std::vector<reference::StoredCase> cases;
};

// Makes sets of buffers for the task's inputs and outputs that PyTorch maps, anew. Instead of trials where PyTorch has
// the same device, or memory, in reach.
struct LendJob {};

// PyTorch has written the inputs of a set.
struct SealJob {
  std::size_t set = 0;
};

// Copies the inputs of a lent set into an InputFile.
struct SpillJob {
  std::size_t set = 0;
  std::string path;
};

// Runs a variant once on a lent set whose outputs PyTorch then looks at. With `load` it is loaded anew before.
struct RunJob {
  Executable executable;
  std::size_t set = 0;
  bool finite = false;                            // outputs hold wrong numbers before, not NaN
  bool load = true;
};

// Verifies a variant, freshly loaded.
struct CheckJob {
  enum class Where {
    check_sizes,   // every trial, and at the workloads too where `full_size` and that is affordable
    fresh,         // at the check sizes on inputs that nothing has seen yet
    neighbours,    // at the neighbouring sizes
  };
  Executable executable;
  Where where = Where::check_sizes;
  bool full_size = true;
  bool only_run = false;                          // nothing is compared and no reference is needed: for a sanitizer
  std::string inputs;                             // of an InputFile, at the first workload; empty: drawn here
};

// Predicts the time of the reference or of a variant at one workload.
struct PredictJob {
  std::optional<Executable> executable;           // empty: the reference
  std::size_t workload = 0;
};

// Times arms against each other at one workload: arm 0 is the reference, arm i + 1 is executables[i].
struct TimeJob {
  std::vector<Executable> executables;
  std::size_t workload = 0;
  std::vector<std::size_t> order;
  bool cold = true;
  bool fresh = false;                             // in memory laid out anew
  std::uint64_t seed = 0;
  std::vector<std::vector<std::uint64_t>> right;  // digests of outputs that PyTorch found right, per lent set
  bool sparing = false;                           // of outputs with another digest only some are reported
};

// Counts a variant in hardware at one workload; needs no reference.
struct CountJob {
  Executable executable;
  std::size_t workload = 0;
  std::string inputs;                             // of an InputFile; empty: drawn here
};

// Measures the energy of a variant at one workload, on the device's own inputs.
struct EnergyJob {
  Executable executable;
  std::size_t workload = 0;
  double seconds = 0;                             // of running it, about
};

// The worker ends by itself, so that a tool around it can say its last word.
struct EndJob {};

using Job = std::variant<OpenJob, ReferenceJob, LendJob, SealJob, SpillJob, RunJob, CheckJob, PredictJob, TimeJob, CountJob, EnergyJob, EndJob>;

struct OpenReply {
  outcome::DeviceFacts facts;
};
struct ReferenceReply {
  std::string broken;                             // why the reference is not right; empty when it is
  bool unsupported = false;                       // … because the simulator lacks an instruction
  bool oracle = false;                            // every declared trial was compared with y64
  bool shadow = false;                            // … or with the reference's shadows
  std::string shadow_note;                        // how these were taken, or why not: one sentence
  int cases = 0;
  std::vector<std::string> dropped;               // trials that the reference itself does not survive
  std::vector<outcome::TaskFinding> findings;     // about the task
  outcome::ErrorFigures errors;
};
struct LendReply {
  std::vector<std::vector<device::Lent>> places;  // per set, the inputs' and then the outputs'
};
struct RunReply {
  verify::Evidence evidence;                      // of the run itself; the outputs are not judged
  std::uint64_t digest = 0;                       // of all outputs
};
struct CheckReply {
  verify::Evidence evidence;
};
struct PredictReply {
  std::optional<device::Prediction> prediction;
  std::optional<outcome::Verdict> fault;
  std::string message;
  std::vector<outcome::Finding> findings;
};
struct TimeReply {
  std::vector<device::Sample> samples;
  double tick_ms = 0;                             // of the device's clock
  verify::Evidence evidence;                      // of the timed outputs
  std::vector<outcome::TaskFinding> findings;     // about the task at this size, with its first timing
  struct Unknown {
    std::size_t set = 0;
    std::uint64_t digest = 0;
  };
  std::optional<Unknown> unknown;                 // a lent set that holds outputs not seen before: they end the timing
};
struct CountReply {
  device::Counted counted;
};
struct EnergyReply {
  std::optional<double> millijoules;              // empty: no meter, or a run that failed
};
// The worker could not do its job for a reason that is not the variant's: thrown by the judge as base::Error.
struct FailureReply {
  int fault = 0;                                  // base::Fault
  std::string message;
};
// An execution on the device begins or has ended: the watchdog's clock.
struct Progress {
  bool executing = false;
};

using Reply =
    std::variant<Progress, OpenReply, ReferenceReply, LendReply, RunReply, CheckReply, PredictReply, TimeReply, CountReply, EnergyReply,
                 FailureReply>;

std::string encode(const Job& job);
std::string encode(const Reply& reply);
Job decode_job(const std::string& message);      // throw base::Error(internal) on anything unexpected
Reply decode_reply(const std::string& message);

}  // namespace cudal1::judge
