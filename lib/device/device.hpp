// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "kernel/plan.hpp"
#include "outcome/binary.hpp"
#include "outcome/counters.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/finding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::device {

// Device memory, owned by the device and named by this handle until release().
using MemoryId = std::uint32_t;

struct Region {
  MemoryId memory = 0;
  std::size_t offset = 0, bytes = 0;
};

// A loaded binary. Owned by the caller; must not outlive its device.
class Module {
 public:
  virtual ~Module() = default;
};

// A plan with a place for each of its buffers, ready to run. Everything it points to outlives the call.
struct BoundPlan {
  const Module* module = nullptr;
  const kernel::Plan* plan = nullptr;
  std::vector<Region> buffers;  // one per plan->buffers
};

struct RunOptions {
  bool checks = true;                       // the simulator's costly checks: races, uninitialised shared memory
  std::uint64_t instruction_budget = 0;     // simulator: warp instructions per launch; 0: the default
  // Simulator: of a plan with a single launch whose blocks do not depend on each other, only blocks that nobody can know, about
  // so many warp instructions of them; 0: all.
  std::uint64_t sampled_instructions = 0;
  bool notes_writes = false;                // the simulator's written() is to be asked afterwards
  // GPU: a run that takes longer is given up with Status::timeout. It runs on: the device is of no more use, and neither it nor
  // its modules may be destroyed, which would wait for it. 0: as long as it takes.
  double seconds = 0;
};

// How a run went.
struct RunResult {
  enum class Status { ok, unsupported, runtime_failed, timeout, findings, stateful, tampered };
  Status status = Status::ok;
  std::string message;                      // one line: why not ok, or what was not checked
  std::vector<outcome::Finding> findings;   // simulator only
  outcome::Counters counters;               // simulator only: summed over the plan
  outcome::LineCounters lines;
  double executed_share = 1;                // of the blocks: less where only some were wanted
  double covered = 1, covered_error = 0;    // where only some ran: the share of the outputs' bytes that all of them write, estimated
  std::string printed;                      // simulator only: what the kernels said with printf, cut at a limit
  double warp_instructions = 0;             // of all blocks, estimated where only some ran
};

// A predicted time (simulator only).
struct Prediction {
  double ms = 0;
  double log_error = 0;                     // half-width of the model's own error on log(ms), as fitted on held-out data
  std::string limited_by;                   // "uncoalesced global loads, line 12"
  bool comparable = false;                  // what was executed left right values wherever it wrote: a single launch of independent blocks
  outcome::Counters counters;
  outcome::LineCounters lines;
  std::map<std::string, double> shares;     // of a peak, 0 … 1, by the names that Counted has
};

// One arm of a timing: equal bindings of one plan, rotated through. Set i is the same memory in every arm, because where
// a buffer lies changes its time.
struct Arm {
  std::vector<BoundPlan> sets;
};

// Raw times of interleaved samples, in the order taken.
struct Sample {
  std::size_t arm = 0, set = 0;
  double ms = 0;                            // of one execution of the plan
  double span_ms = 0;                       // what the clock measured to get it: half a tick of error falls on this
  double clock_hz = 0;                      // of the multiprocessors, just before; 0: not known
  double stall_ms = 0;                      // the longest that a waiting kernel of ours was kept from running, just before
  bool slope = false;                       // a difference of two spans, so that what the clock's events take drops out
};

// What the hardware counted over one execution of a plan that begins with empty caches.
struct Counted {
  outcome::Counters counters;
  std::map<std::string, double> shares;     // of a peak, 0 … 1, by name; and rates
  std::string problem;                      // why nothing was counted: one sentence
};

struct TimingRequest {
  std::vector<Arm> arms;
  std::vector<std::size_t> order;           // arm of each sample, chosen by the caller (role-swapped, shuffled)
  bool flush = true;                        // empty the L2 before each sample; false: hot
  std::uint64_t seed = 0;                   // order of sets
  // Called for each set of an arm before samples are queued that use it (before each sample when flushing), to overwrite outputs and restore what runs
  // change, with poison() and copy() only. A set is used at most once between two calls.
  std::function<void(std::size_t arm, std::size_t set)> prepare;
  // Called for the same sets when these samples are through, while their outputs stand. False ends the timing.
  std::function<bool(std::size_t arm, std::size_t set)> inspect;
};

// A place where plans run: the driver API, or the simulator. Not thread-safe. Misuse is an assertion; a lost device
// throws base::Error(no_device), exhausted memory base::Error(no_memory).
class Device {
 public:
  virtual ~Device() = default;
  virtual const outcome::DeviceFacts& facts() const = 0;

  virtual MemoryId allocate(std::size_t bytes, const std::string& name) = 0;
  virtual void release(MemoryId memory) = 0;
  virtual void write(const Region& region, std::span<const std::byte> bytes) = 0;
  virtual void read(const Region& region, std::span<std::byte> bytes) = 0;
  virtual void copy(const Region& from, const Region& to) = 0;  // device to device
  // Fills with a repeated 32-bit word and, on the simulator, marks the bytes as never written.
  virtual void poison(const Region& region, std::uint32_t word) = 0;

  // Which bytes the last run wrote, where RunOptions::notes_writes was set and the region holds an output or inout of its plan; empty where
  // this device does not know.
  virtual std::vector<bool> written(const Region&) { return {}; }

  // A digest of a region's bytes: equal bytes, equal digest. Devices compute it where the bytes lie.
  virtual std::uint64_t digest(const Region& region) {
    std::vector<std::byte> bytes(region.bytes);
    read(region, bytes);
    std::uint64_t result = bytes.size();
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
      result = (result ^ word) * 0x9e3779b97f4a7c15;
      result ^= result >> 32;
    }
    return result;
  }

  // True when the device, or a tool around it, reports accesses outside a buffer itself: then no guard zones are laid.
  virtual bool checks_memory() const { return facts().simulated; }

  // The step of the clock that time() reads; 0 where there is none.
  virtual double tick_ms() const { return 0; }

  // The binary's entries ready to launch. The error says what does not fit ("sim does not know …", wrong architecture).
  virtual tl::expected<std::unique_ptr<Module>, RunResult> load(const outcome::Binary& binary) = 0;

  // The symbol of a variable of the module that holds other bytes than when it was loaded; empty: there is none.
  virtual std::string changed_variable(const Module&) { return {}; }

  // Runs a plan once, to its end.
  virtual RunResult run(const BoundPlan& plan, const RunOptions& options) = 0;

  // Measured times, in order; empty optional where this device cannot measure (the simulator).
  virtual std::optional<std::vector<Sample>> time(const TimingRequest& request) = 0;

  // Counts a plan, which runs several times, each after `prepare` as TimingRequest has it. A measuring device only.
  virtual Counted read_counters(const BoundPlan&, const std::function<void()>&) { return {{}, {}, "this device does not count"}; }

  // Millijoules of one execution with warm caches, of many in a row for about this time, after `prepare` now and then. Empty: no meter.
  virtual std::optional<double> energy_mj(const BoundPlan&, const std::function<void()>&, base::Seconds) { return std::nullopt; }

  // A predicted time, counters only; empty optional where this device measures instead.
  virtual std::optional<tl::expected<Prediction, RunResult>> predict(const BoundPlan& plan) = 0;
};

}  // namespace cudal1::device
