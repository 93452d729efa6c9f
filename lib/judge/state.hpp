// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/random.hpp"
#include "bench/decision.hpp"
#include "bench/limit.hpp"
#include "judge/candidate.hpp"
#include "judge/device_host.hpp"
#include "judge/judge.hpp"

#include <mutex>
#include <set>

namespace cudal1::judge {

// The parent's side of one run. Private to the part: judge.cpp holds the flow, the other sources one step each.
struct Judge::State {
  State(const task::Task& task, compile::Compiler& compiler, Options options);

  const task::Task& task;
  compile::Compiler& compiler;
  Options options;
  DeviceHost host;                              // warm; candidates are screened in it
  std::mutex mutex;
  std::uint64_t seed;
  base::Random random;
  outcome::DeviceFacts facts;
  bool ready = false;                           // host holds the task and its reference
  Executable reference;
  std::optional<ReferenceFacts> reference_facts;
  std::vector<PredictReply> reference_predictions;  // simulator only, per workload
  ReferenceReply reference_reply;
  std::set<std::string> hung;                   // keys of what must not run again

  std::string arch() const;
  base::Seconds execution_limit(bool whole_workload) const;

  // Starts a worker and opens the device and the task in it.
  void open(DeviceHost& where, std::uint64_t with_seed, bool bare = false);
  ReferenceReply load_reference(DeviceHost& where);
  void ensure_ready();
  const ReferenceFacts& ensure_reference();

  // Asks and unwraps. A worker that hung or died becomes a verdict; afterwards a fresh one must be made ready.
  template <typename Wanted>
  tl::expected<Wanted, Rejected> ask(DeviceHost& where, const Job& job, bool whole_workload, const std::string& key);
  void lost(const DeviceHost& where);

  outcome::Judgement screen(const std::string& source, const std::string& name);
  outcome::Judgement judge(const Candidate& candidate, const std::string& source);
  outcome::Judgement confirm(const Candidate& candidate, const kernel::Environment& tunables, const std::string& source);
  outcome::Judgement confirm_predicted(DeviceHost& fresh, outcome::Judgement judgement, const Executable& executable,
                                       const std::string& key);
  outcome::Judgement confirm_measured(outcome::Judgement judgement, const Executable& executable,
                                      const std::string& key);

  // Verification; the verdict stays inconclusive when nothing is wrong.
  std::optional<Rejected> check(DeviceHost& where, const Executable& executable, const std::string& key);

  struct Timed {
    bench::Estimate estimate;
    outcome::Verdict verdict = outcome::Verdict::inconclusive;
    std::vector<outcome::WorkloadTiming> workloads;
    outcome::Counters counters;
    outcome::LineCounters lines;
  };
  tl::expected<Timed, Rejected> predict(DeviceHost& where, const Executable& executable, const std::string& key);
  tl::expected<Timed, Rejected> measure(DeviceHost& where, const Executable& executable, bench::Purpose purpose,
                                        const std::string& key);
  // The index of the fastest of several executables, after a race.
  tl::expected<std::size_t, Rejected> race(const std::vector<Executable>& members, const std::string& key);
  void apply(const Timed& timed, outcome::Judgement& judgement) const;

  outcome::Judgement describe(const Executable& executable, const kernel::Environment& tunables) const;
  void finish(outcome::Judgement& judgement, outcome::Level level, base::Seconds began) const;
  outcome::WorkloadTiming timing(std::size_t workload, double reference_ms, double variant_ms,
                                 const bench::Estimate& estimate) const;

  // compute-sanitizer's four tools over the check sizes, in a worker of its own each.
  void sanitize(outcome::Judgement& judgement, const Executable& executable);
};

template <typename Wanted>
tl::expected<Wanted, Rejected> Judge::State::ask(DeviceHost& where, const Job& job, bool whole_workload,
                                                 const std::string& key) {
  DeviceHost::Answer answer = where.ask(job, execution_limit(whole_workload), base::Seconds{1800});
  if (answer.reply) {
    if (auto* wanted = std::get_if<Wanted>(&*answer.reply)) return std::move(*wanted);
    throw base::Error(base::Fault::internal, "the device worker answered something else than it was asked");
  }
  lost(where);
  Rejected judgement;
  if (answer.timed_out) {
    hung.insert(key);
    judgement.verdict = outcome::Verdict::timeout;
    judgement.message = "one execution took longer than the limit and was stopped";
  } else {
    judgement.verdict = outcome::Verdict::runtime_failed;
    judgement.message = std::move(answer.last_words);
  }
  return tl::unexpected(std::move(judgement));
}

}  // namespace cudal1::judge
