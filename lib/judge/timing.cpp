// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/order.hpp"
#include "bench/race.hpp"
#include "judge/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using bench::Estimate;
using outcome::Verdict;

constexpr double launch_bound_ms = 0.00384;   // three empty event pairs
constexpr double final_alpha = 0.01;
constexpr int final_pairs = 24;

std::vector<double> weights(const task::Task& task) {
  std::vector<double> result;
  for (const task::Workload& workload : task.workloads) result.push_back(workload.weight);
  return result;
}

// One timing job at a time per GPU, also across several runs of this program.
base::FileLock lock_gpu(const outcome::DeviceFacts& facts) {
  std::string name = "gpu-";
  for (const char letter : facts.uuid.empty() ? facts.name : facts.uuid)
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-';
  return base::FileLock(base::cache_folder() / (name + ".lock"));
}

Rejected rejected(const verify::Evidence& evidence) {
  Rejected judgement;
  judgement.verdict = *evidence.fault;
  judgement.message = evidence.message;
  judgement.findings = evidence.findings;
  judgement.first_wrong = evidence.first_wrong;
  judgement.worst_wrong = evidence.worst_wrong;
  judgement.errors = evidence.errors;
  return judgement;
}

}  // namespace

tl::expected<Judge::State::Timed, Rejected> Judge::State::predict(DeviceHost& where, const Executable& executable,
                                                                  const std::string& key) {
  Timed result;
  std::vector<Estimate> estimates;
  for (std::size_t w = 0; w < task.workloads.size(); ++w) {
    PredictJob job;
    job.executable = executable;
    job.workload = w;
    auto reply = ask<PredictReply>(where, job, true, key);
    if (!reply) return tl::unexpected(std::move(reply.error()));
    if (!reply->prediction) {
      Rejected judgement;
      judgement.verdict = reply->fault.value_or(Verdict::runtime_failed);
      judgement.message = fmt::format("{} ({})", reply->message, task.workloads[w].label());
      judgement.findings = std::move(reply->findings);
      if (judgement.verdict == Verdict::timeout) hung.insert(key);
      return tl::unexpected(std::move(judgement));
    }
    const device::Prediction& mine = *reply->prediction;
    const device::Prediction& theirs = *reference_predictions[w].prediction;
    Estimate estimate;
    estimate.mean = std::log(theirs.ms) - std::log(mine.ms);
    estimate.half_width = std::hypot(theirs.log_error, mine.log_error);
    estimates.push_back(estimate);
    outcome::WorkloadTiming here = timing(w, theirs.ms, mine.ms, estimate);
    if (!mine.limited_by.empty()) here.limited_by = mine.limited_by;
    result.workloads.push_back(std::move(here));
    result.counters += mine.counters;
    if (w == 0) result.lines = mine.lines;
  }
  result.estimate = bench::combine(estimates, weights(task));
  result.estimate.pairs = 0;
  result.verdict = bench::decide_prediction(result.estimate);
  return result;
}

tl::expected<Judge::State::Timed, Rejected> Judge::State::measure(DeviceHost& where, const Executable& executable,
                                                                  bench::Purpose purpose, const std::string& key) {
  const base::FileLock lock = lock_gpu(facts);
  const std::size_t count = task.workloads.size();
  std::vector<std::vector<device::Sample>> samples(count);
  std::vector<double> ticks(count);
  const bool screening = purpose == bench::Purpose::screening;
  const std::vector<int> looks =
      screening ? std::vector<int>(bench::looks.begin(), bench::looks.end()) : std::vector<int>{final_pairs};
  const double alpha = screening ? bench::look_alpha : final_alpha;
  Timed result;
  double spent_ms = 0;
  for (const int look : looks) {
    std::vector<Estimate> estimates;
    result.workloads.clear();
    for (std::size_t w = 0; w < count; ++w) {
      TimeJob job;
      job.executables.push_back(executable);
      job.workload = w;
      job.order = bench::pair_order(look - static_cast<int>(samples[w].size() / 2), random);
      job.seed = random.next();
      auto reply = ask<TimeReply>(where, job, true, key);
      if (!reply) return tl::unexpected(std::move(reply.error()));
      if (reply->evidence.fault) {
        if (*reply->evidence.fault == Verdict::runtime_failed) {
          where.stop();
          lost(where);
        }
        return tl::unexpected(rejected(reply->evidence));
      }
      ticks[w] = reply->tick_ms;
      for (const device::Sample& sample : reply->samples) spent_ms += sample.ms;
      samples[w].insert(samples[w].end(), reply->samples.begin(), reply->samples.end());
      const std::vector<double> ratios = bench::log_ratios(samples[w]);
      estimates.push_back(bench::estimate(ratios, alpha, bench::timer_guard(ticks[w], bench::shortest_ms(samples[w]))));
      const double reference_ms = bench::median_ms(samples[w], 0);
      const double variant_ms = bench::median_ms(samples[w], 1);
      result.workloads.push_back(timing(w, reference_ms, variant_ms, estimates.back()));
    }
    result.estimate = bench::combine(estimates, weights(task));
    const bool last = look == looks.back() || (spent_ms > options.gpu_budget_ms && look >= 12);
    if (const auto verdict = bench::decide(result.estimate, purpose, last)) {
      result.verdict = *verdict;
      break;
    }
  }
  for (std::size_t w = 0; w < count; ++w) {
    double output_bytes = 0;
    for (const kernel::PlanBuffer& buffer : reference.workloads[w].buffers)
      if (buffer.role != kernel::PlanBuffer::Role::input && buffer.role != kernel::PlanBuffer::Role::scratch)
        output_bytes += static_cast<double>(buffer.bytes);
    if (bench::implausible(result.workloads[w].variant_ms, output_bytes, facts)) result.verdict = Verdict::implausible;
  }
  return result;
}

tl::expected<std::size_t, Rejected> Judge::State::race(const std::vector<Executable>& members, const std::string& key) {
  if (members.size() == 1) return 0;
  const base::FileLock lock = lock_gpu(facts);
  bench::Race race(members.size());
  constexpr int rounds_limit = 16;
  while (!race.decided() && race.rounds() < rounds_limit) {
    // All rounds up to the next look in one job, because loading the members costs more than timing them.
    const int until = *std::upper_bound(bench::Race::looks.begin(), bench::Race::looks.end(), race.rounds());
    TimeJob job;
    std::vector<std::size_t> arm_of(members.size());  // arm 0 is the reference, which takes no part
    for (const std::size_t survivor : race.survivors()) {
      job.executables.push_back(members[survivor]);
      arm_of[survivor] = job.executables.size();
    }
    std::vector<std::size_t> order;
    for (int round = race.rounds(); round < until; ++round)
      for (const std::size_t member : race.round(random)) order.push_back(member);
    for (const std::size_t member : order) job.order.push_back(arm_of[member]);
    job.seed = random.next();
    auto reply = ask<TimeReply>(host, job, true, key);
    if (!reply) return tl::unexpected(std::move(reply.error()));
    if (reply->evidence.fault) return tl::unexpected(rejected(reply->evidence));
    const std::size_t length = race.survivors().size();
    for (std::size_t start = 0; start + length <= reply->samples.size(); start += length) {
      std::vector<device::Sample> round(reply->samples.begin() + static_cast<std::ptrdiff_t>(start),
                                        reply->samples.begin() + static_cast<std::ptrdiff_t>(start + length));
      for (std::size_t i = 0; i < length; ++i) round[i].arm = order[start + i];
      race.add(round);
    }
  }
  return race.best();
}

outcome::WorkloadTiming Judge::State::timing(std::size_t workload, double reference_ms, double variant_ms,
                                             const Estimate& estimate) const {
  outcome::WorkloadTiming result;
  for (const std::string& name : task.workloads[workload].declared)
    if (const auto size = task.workloads[workload].sizes.find(name); size != task.workloads[workload].sizes.end())
      result.sizes[name] = size->second;
  result.reference_ms = reference_ms;
  result.variant_ms = variant_ms;
  result.speedup = estimate.speedup();
  result.pairs = estimate.pairs;
  const bench::Limit limit = bench::limit(task.necessary_bytes(workload), task.written_operations(workload), facts);
  if (variant_ms > 0) {
    const double memory = limit.memory_ms / variant_ms;
    const double arithmetic = limit.arithmetic_ms / variant_ms;
    // Algebra may remove arithmetic, so only a share of it that is possible counts.
    const bool by_arithmetic = arithmetic > memory && arithmetic <= 1;
    result.share_of_limit = std::min(1.0, by_arithmetic ? arithmetic : memory);
    if (!facts.simulated && variant_ms < launch_bound_ms) result.limited_by = "launch overhead";
    else if (result.share_of_limit >= 0.5) result.limited_by = by_arithmetic ? "FP32 arithmetic" : "memory bandwidth";
    else result.limited_by = "latency or access pattern";
  }
  return result;
}

void Judge::State::apply(const Timed& timed, outcome::Judgement& judgement) const {
  judgement.verdict = timed.verdict;
  judgement.predicted = facts.simulated;
  judgement.workloads = timed.workloads;
  judgement.counters = timed.counters;
  judgement.hot_lines = timed.lines;
  while (judgement.hot_lines.size() > 8) {
    const auto coldest = std::min_element(
        judgement.hot_lines.begin(), judgement.hot_lines.end(), [](const auto& left, const auto& right) {
          return left.second.warp_instructions < right.second.warp_instructions;
        });
    judgement.hot_lines.erase(coldest);
  }
  if (timed.verdict == Verdict::implausible) {
    judgement.message = "its outputs cannot be written in this time";
    return;
  }
  judgement.speedup = timed.estimate.speedup();
  for (const outcome::WorkloadTiming& workload : timed.workloads)
    if (!facts.simulated && workload.variant_ms < launch_bound_ms)
      judgement.labels.insert(outcome::Label::launch_bound);
}

}  // namespace cudal1::judge
