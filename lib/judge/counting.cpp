// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "judge/state.hpp"

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

constexpr std::size_t counted_bytes = std::size_t{1} << 30;   // of a module's inputs, which go through the host's memory

}  // namespace

// In a worker of its own, because CUPTI excludes other tools and leaves its mark on what is timed beside it. Never a
// reason to reject: without counters the verdict stands.
void Judge::State::count(DeviceHost& where, outcome::Judgement& judgement, const Executable& executable) {
  if (facts.simulated || !options.counters) return;
  if (!counting_problem.empty()) {
    judgement.hardware_problem = counting_problem;
    return;
  }
  const Step step(*this, "count");
  try {
    CountJob job;
    job.executable = executable;
    if (lends()) {
      if (InputFile::bytes(reference.workloads.front()) > counted_bytes) {
        judgement.hardware_problem = counting_problem = fmt::format("the task's inputs take more than {} MiB", counted_bytes >> 20);
        return;
      }
      job.inputs = spilled(where);
    }
    if (!counter.alive()) open(counter, seed);
    auto reply = ask<CountReply>(counter, job, true, "");
    if (!reply) return;
    device::Counted& counted = reply->counted;
    judgement.hardware_problem = counting_problem = counted.problem;
    if (!counted.problem.empty()) return counter.stop();
    judgement.counters = counted.counters;
    judgement.hardware = std::move(counted.shares);
    if (judgement.workloads.empty()) return;
    outcome::WorkloadTiming& timing = judgement.workloads.front();
    if (const double ms = timing.variant_ms; ms > 0 && facts.memory_bytes_per_second > 0)
      judgement.hardware["dram_share"] = 1e3 * (judgement.counters.dram_read_bytes + judgement.counters.dram_write_bytes) /
                                         (ms * facts.memory_bytes_per_second);
    timing.limited_by = bench::binding_limit(timing.limited_by, judgement.hardware, judgement.counters);
  } catch (const base::Error& error) {
    judgement.hardware_problem = counting_problem = error.what();
  }
}

}  // namespace cudal1::judge
