// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/process.hpp"
#include "compile/compiler.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"
#include "outcome/precision.hpp"
#include "outcome/task_finding.hpp"
#include "pytorch/host.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::judge {

struct Options {
  std::string device = "sim";         // "sim" or "cuda:N"
  std::string gpu = "H200";           // sim: the GPU whose times are predicted
  std::optional<outcome::DeviceFacts> own_gpu;  // its record where it is the user's
  base::Program worker;               // this program started as `worker device`, or as what stands for one on another machine
  bool remote = false;                // it is one: told to end rather than killed, and it waits for its turn at the GPU itself
  std::optional<std::uint64_t> seed;  // of inputs and order; empty: secret
  base::Seconds run_limit{10};        // one execution of a plan, before it counts as TIMEOUT
  double gpu_budget_ms = 250;         // device time per candidate for a screening interval
  bool sanitizer = true;              // compute-sanitizer on a final verdict, where it exists
  pytorch::Host* pytorch = nullptr;   // has the task open, when it is a module; must outlive the judge
  std::vector<outcome::TaskFinding> findings;  // about a module, from its task gate
  // Starts PyTorch beside a kernel file on a GPU, to time its torch line with a final verdict; called in a thread of its
  // own, and throws base::Error where there is none. What it gives must outlive the judge. Empty: not wanted.
  std::function<pytorch::Host&(std::stop_token)> beside;
  // Ways of running a module that its variants are compared with (pytorch/host.hpp): the first is what 1.00 means, and
  // "best" as the first the fastest of the others.
  std::vector<std::string> baselines{"eager", "compile", "reduce-overhead", "graph"};
  std::string against, against_name;  // a variant's text, with which others are compared instead of the reference
  bool counters = true;               // the hardware's counters of what is right, where they may be read
  bool look_for_tenants = true;       // whether other programs use the GPU, which takes more than a second after work of our own
  outcome::Precision precision = outcome::Precision::fp32;
  int trials = 2;                     // of the declared inputs
  int final_pairs = 24;               // of measurements for a final verdict, in each of its processes
  std::filesystem::path hangs;        // where to remember what did not end; empty: in this run only
  std::function<void(const std::string& text)> printed;  // takes what a variant says with printf, on the simulator
  enum class Oracle { none, shadow, torch };
  Oracle least_oracle = Oracle::none; // without one that is at least this, the task is refused
  bool accept_degenerate = false;     // go on with an unsound task; it earns no speed-up
  // A worker that dies and was not stopped for its time is nobody's verdict: throws base::Error(internal), and the next
  // call starts another. Otherwise it is RUNTIME_FAILED.
  bool dead_worker_throws = false;
  // Others may have the memory of the GPU that a variant finds missing: throws base::Error(no_memory), and the task is to be tried
  // alone. Otherwise it is RUNTIME_FAILED.
  bool shares_memory = false;
};

// The reference, verified and timed: what 1.00 means. A PyTorch module has no predicted time: on the simulator `times`
// is empty, and 1.00 is the first variant that is right.
struct ReferenceFacts {
  struct Time {
    std::string workload;             // "N=4096 M=4096"
    double ms = 0;
    double speed_of_light_ms = 0;     // necessary bytes at the device's memory rate: a trigger, not a bound on algebra
    std::string limited_by;
  };
  std::vector<Time> times;
  bool predicted = false;
  bool oracle = false;                // the torch line, or PyTorch
  bool shadow = false;                // without it: SHADOW_ORACLE; else NO_ORACLE
  std::string note;                   // why there is no oracle, or how it was taken; one sentence
  outcome::Precision precision = outcome::Precision::fp32;
  std::vector<outcome::TaskFinding> findings;  // about the task itself
  outcome::Judgement judgement;       // of the reference as its own variant: resources, counters, errors; score 1
};

// A variant that is right, to be raced against others.
struct Entrant {
  std::string source, name;
  std::map<std::string, std::int64_t> tunables;
};

// What became of several.
struct Race {
  struct Standing {
    outcome::Speedup over_fastest;    // the fastest one's time over its own, where both were timed; at 99 %
    int turns = 0;                    // in which it was timed
  };
  std::vector<Standing> standings;    // of the entrants, in their order; empty with a problem
  std::size_t fastest = 0;
  std::string problem;                // why nothing is known: one sentence
  double seconds = 0;
};

// A variant's whole life: parse, plan, compile, verify, time; in the workers of this process, which keeps all statistics
// and verdicts. One judge serves one run on one device; calls from several threads take turns, but compile at once.
class Judge {
 public:
  Judge(const task::Task& task, compile::Compiler& compiler, Options options);
  ~Judge();

  const outcome::DeviceFacts& device() const;

  // What makes times here less than certain: other programs on the GPU, or that nobody would see them. One sentence each.
  const std::vector<std::string>& warnings() const;

  // Compiles, verifies and times the reference, once. Throws base::Error(bad_input) when it is itself broken, with the
  // compiler's message or the wrong element, and when the task is unsound and Options do not accept that.
  const ReferenceFacts& reference();

  // A screening verdict for an answer's text (a kernel file); never throws for what is the answer's fault.
  outcome::Judgement screen(const std::string& source, const std::string& name);

  // The same without times: DROPPED is one that is right.
  outcome::Judgement verify(const std::string& source, const std::string& name);

  // Form, plan and NVRTC alone: why not, or nothing. Needs no reference and waits for nobody's turn.
  std::optional<outcome::Judgement> compile(const std::string& source, const std::string& name);

  // Variants must be judged one after the other: the first right one is what 1.00 means.
  bool in_order() const;

  // A variant that an earlier execution of this run judged. The first right one of a task without a time to beat is
  // judged again, because the others' speed-ups are relative to it.
  void recall(const std::string& source, const std::string& name, const outcome::Judgement& judgement);

  // Times variants in turns of all that may still be the fastest. Empty on the simulator, which measures nothing.
  std::optional<Race> race(const std::vector<Entrant>& entrants);

  // Millijoules of one execution of a variant that is right, at the first workload; empty where the device has no meter, and for modules.
  std::optional<double> energy_mj(const Entrant& entrant, base::Seconds at_least);

  // A final verdict: fresh processes, fresh inputs, full checks, for the family member `tunables`.
  outcome::Judgement confirm(const std::string& source, const std::string& name,
                             const std::map<std::string, std::int64_t>& tunables);

 private:
  struct State;
  enum class Depth { verified, timed };
  outcome::Judgement examine(const std::string& source, const std::string& name, Depth depth);
  std::unique_ptr<State> state_;
};

// What somebody who only carries the messages of a device worker must know of them.
bool ends_worker(const std::string& job);
bool is_answer(const std::string& reply);                  // rather than word of an execution on the way
std::string still_at_it(const std::string& last_reply);    // that word, again

// The device worker's main loop (`cudal1 worker device`). Returns the exit code.
int worker_main();

}  // namespace cudal1::judge
