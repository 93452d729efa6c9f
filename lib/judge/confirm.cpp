// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "judge/state.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

constexpr double agreement = 0.01;   // of two processes' log speed-ups, beside their intervals
constexpr double ahead_share = 64;   // of the GPU's memory: a task that takes no more is held by two processes at once

}  // namespace

outcome::Judgement Judge::State::confirm(const Candidate& candidate, const kernel::Environment& tunables,
                                         const std::string& source) {
  const auto compiled = [&] {
    const Step step(*this, "compile");
    return build(task, candidate, tunables, compiler, arch);
  };
  auto executable = compiled();
  if (!executable) return std::move(executable.error());
  outcome::Judgement judgement = describe(*executable, tunables);
  const std::string key = candidate_key(source, tunables);
  if (const auto remembered = remembered_hang(key)) return with_fault(std::move(judgement), *remembered);
  if (!facts.simulated) return confirm_measured(std::move(judgement), *executable, key);
  DeviceHost fresh(options.worker, options.remote);
  return confirm_predicted(fresh, std::move(judgement), *executable, key);
}

void Judge::State::try_neighbours(DeviceHost& where, const Executable& executable, outcome::Judgement& judgement) {
  if (nearby.empty()) return;
  const auto checked = check(where, executable, "", CheckJob::Where::neighbours);
  if (checked->verdict != Verdict::inconclusive) judgement.labels.insert(outcome::Label::specialised);
}

void Judge::State::start(DeviceHost& fresh) {
  const Step step(*this, "start");
  open(fresh, random.next());
  load_reference(fresh);
}

outcome::Judgement Judge::State::confirm_predicted(DeviceHost& fresh, outcome::Judgement judgement,
                                                   const Executable& executable, const std::string& key) {
  start(fresh);
  const auto checked = check(fresh, executable, key);
  if (checked->verdict != Verdict::inconclusive) return with_fault(std::move(judgement), *checked);
  judgement.errors = checked->errors;
  judgement.sanitizer = checked->sanitizer;
  const auto timed = predict(fresh, executable, key);
  if (!timed) return with_fault(std::move(judgement), timed.error());
  apply(*timed, judgement);
  try_neighbours(fresh, executable, judgement);
  return judgement;
}

bool Judge::State::fits_twice() const {
  return !lends() && !options.remote && task.necessary_bytes(0) <= static_cast<double>(facts.memory_bytes) / ahead_share;
}

std::vector<TimeJob> Judge::State::untimed_jobs(const Executable& executable) const {
  std::vector<TimeJob> jobs(task.workloads.size());
  for (std::size_t w = 0; w < jobs.size(); ++w) {
    jobs[w].executables.push_back(executable);
    jobs[w].workload = w;
  }
  return jobs;
}

MadeAhead::Jobs Judge::State::fresh_jobs(const Executable& executable) {
  return {open_job(random.next(), false), reference_job(), check_job(executable, CheckJob::Where::check_sizes, true), untimed_jobs(executable)};
}

bool Judge::State::apart(const std::vector<Timed>& results) {
  const bench::Estimate& a = results[results.size() - 2].estimate;
  const bench::Estimate& b = results.back().estimate;
  return std::fabs(a.mean - b.mean) > a.half_width + b.half_width + agreement;
}

// What the last two processes found, as one.
void Judge::State::unite(std::vector<Timed>& results, outcome::Judgement& judgement) const {
  Timed& result = results.back();
  const Timed& other = results[results.size() - 2];
  if (apart(results)) {
    result.verdict = Verdict::inconclusive;
    judgement.message = fmt::format("two fresh processes disagree: {:.3g}x and {:.3g}x", std::exp(other.estimate.mean),
                                    std::exp(result.estimate.mean));
  } else if (result.verdict != other.verdict) {
    result.verdict = Verdict::inconclusive;
    judgement.message = fmt::format("one fresh process found {}, another {}", name(other.verdict), name(result.verdict));
  }
  for (outcome::BaselineTiming& baseline : result.baselines) {
    const auto before = std::find_if(other.baselines.begin(), other.baselines.end(),
                                     [&](const outcome::BaselineTiming& each) { return each.name == baseline.name; });
    if (!baseline.speedup || before == other.baselines.end() || !before->speedup) continue;
    outcome::Speedup& mine = *baseline.speedup;
    const outcome::Speedup& theirs = *before->speedup;
    mine = {std::sqrt(mine.value * theirs.value), std::min(mine.low, theirs.low), std::max(mine.high, theirs.high)};
  }
  result.labels.insert(other.labels.begin(), other.labels.end());
  for (std::size_t w = 0; w < result.workloads.size(); ++w)
    result.workloads[w].hot_speedup = results.front().workloads[w].hot_speedup;
  // The interval covers both processes: where a buffer lies differs from one to the next.
  const double low = std::min(result.estimate.low(), other.estimate.low());
  const double high = std::max(result.estimate.high(), other.estimate.high());
  result.estimate.mean = 0.5 * (result.estimate.mean + other.estimate.mean);
  apply(result, judgement);
  if (judgement.speedup) *judgement.speedup = {std::exp(result.estimate.mean), std::exp(low), std::exp(high)};
  for (std::size_t w = 0; w < other.workloads.size(); ++w) judgement.workloads[w].pairs += other.workloads[w].pairs;
}

outcome::Judgement Judge::State::confirm_measured(outcome::Judgement judgement, const Executable& executable,
                                                  const std::string& key) {
  if (lends()) with_pytorch([](pytorch::Host& pytorch) { pytorch.detach(pytorch::Host::Truths::kept); });
  for_confirming.reset();   // that no answer was given before
  host.stop();  // two workers on one GPU would disturb each other's times
  counter.stop();
  ready = false;
  std::vector<Timed> results;
  DeviceHost hosts[2] = {DeviceHost(options.worker, options.remote), DeviceHost(options.worker, options.remote)};
  std::optional<Kept> both;   // a turn that outlives whoever works in it
  std::optional<MadeAhead> ahead;
  for (int process = 0; process < 3; ++process) {
    DeviceHost& fresh = hosts[process % 2];
    if (process > 0) hosts[(process - 1) % 2].stop();
    if (const auto ready = process == 1 && ahead ? ahead->ready() : std::nullopt) {
      judgement.errors = ready->errors;
    } else {
      if (process == 0 && fits_twice()) {
        both.emplace(*this, GpuTurn::Use::alone);
        ahead.emplace(fresh_jobs(executable), hosts[1], execution_limit(true));
      }
      fresh.stop();
      start(fresh);
      const auto checked = check(fresh, executable, key);
      if (both) {
        const Step step(*this, "check");
        if (checked->verdict == Verdict::inconclusive)
          for (const TimeJob& job : untimed_jobs(executable))
            if (const auto made = ask<TimeReply>(fresh, job, true, key); !made) return with_fault(std::move(judgement), made.error());
        ahead->ready();
        both.reset();
      }
      if (checked->verdict != Verdict::inconclusive) return with_fault(std::move(judgement), *checked);
      judgement.errors = checked->errors;
    }
    auto timed = measure(fresh, executable, bench::Purpose::final_, key);
    if (!timed) return with_fault(std::move(judgement), timed.error());
    if (results.empty()) measure_hot(fresh, executable, *timed, key);
    results.push_back(*std::move(timed));
    const auto afterwards = check(fresh, executable, key, CheckJob::Where::fresh);
    if (afterwards->verdict != Verdict::inconclusive) return with_fault(std::move(judgement), *afterwards);
    if (process == 0 && for_confirming) for_confirming->trials = few_of(for_confirming->trials);
    const bool settled = process == 1 && !apart(results) && !results.back().below_floor;
    if (!settled && process < 2) continue;
    try_neighbours(fresh, executable, judgement);
    break;
  }
  unite(results, judgement);
  DeviceHost& fresh = hosts[(results.size() - 1) % 2];
  count(fresh, judgement, executable);
  if (options.sanitizer && base::defended(base::Defence::sanitizer) && judgement.verdict == Verdict::faster)
    sanitize(fresh, judgement, executable);
  // Last of all, because PyTorch may not be ready before.
  if (beside && outcome::is_right(judgement.verdict)) judgement.baselines = time_beside(fresh, executable, key);
  return judgement;
}

}  // namespace cudal1::judge
