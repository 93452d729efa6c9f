// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "bench/order.hpp"
#include "judge/state.hpp"
#include "outcome/speedup_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using bench::Estimate;
using outcome::Label;
using outcome::Verdict;

constexpr double launch_bound_ms = 0.00384;   // three empty event pairs
constexpr double tenant_stall_ms = 0.05;      // time slices of another program are longer
constexpr int hot_pairs = 12;
constexpr double slow_reference_ms = 1, slow_reference_ratio = 5, chained_half_width = 0.03;

}  // namespace

std::vector<double> Judge::State::weights() const {
  std::vector<double> result;
  for (const task::Workload& workload : task.workloads) result.push_back(workload.weight);
  return result;
}

tl::expected<Judge::State::Timed, Rejected> Judge::State::predict(DeviceHost& where, const Executable& executable,
                                                                  const std::string& key) {
  const Step step(*this, "time");
  Timed result;
  std::vector<Estimate> estimates;
  device::Prediction unit;
  unit.ms = 1;
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
      if (judgement.verdict == Verdict::timeout) remember_hang(key);
      return tl::unexpected(std::move(judgement));
    }
    // Before there is a time to beat, variants are compared with each other alone.
    const device::Prediction& mine = *reply->prediction;
    const device::Prediction& theirs = reference_predictions.empty() ? unit : *reference_predictions[w].prediction;
    Estimate estimate;
    estimate.mean = std::log(theirs.ms) - std::log(mine.ms);
    estimate.half_width = std::hypot(theirs.log_error, mine.log_error);
    estimates.push_back(estimate);
    outcome::WorkloadTiming here = timing(w, theirs.ms, mine.ms, estimate);
    if (!mine.limited_by.empty()) here.limited_by = mine.limited_by;
    result.workloads.push_back(std::move(here));
    result.counters += mine.counters;
    if (w == 0) result.lines = mine.lines;
    result.predictions.push_back(*std::move(reply));
  }
  result.estimate = bench::combine(estimates, weights());
  result.estimate.pairs = 0;
  result.verdict = bench::decide_prediction(result.estimate);
  return result;
}

tl::expected<Judge::State::Timed, Rejected> Judge::State::measure(DeviceHost& where, const Executable& executable,
                                                                  bench::Purpose purpose, const std::string& key) {
  if (lends()) return measure_lent(where, executable, purpose, key);
  const Step step(*this, "time");
  const std::size_t count = task.workloads.size();
  bench::Comparison comparison(purpose, weights(), options.gpu_budget_ms, options.final_pairs);
  const bool chained = !against && purpose == bench::Purpose::screening && worth_chaining();
  const Executable* other = against ? &*against : chained ? &incumbent->executable : nullptr;
  Timed result;
  std::optional<Verdict> verdict;
  std::string throttled;
  const Kept all_pairs(*this, GpuTurn::Use::alone);
  while (!verdict) {
    for (std::size_t w = 0; w < count; ++w) {
      const int pairs = comparison.wanted(w);
      if (pairs == 0) continue;
      TimeJob job;
      if (other != nullptr) job.executables.push_back(*other);
      job.executables.push_back(executable);
      job.workload = w;
      job.order = bench::pair_order(pairs, random);
      if (other != nullptr)
        for (std::size_t& arm : job.order) ++arm;  // the reference, arm 0, rests
      job.seed = random.next();
      auto reply = ask<TimeReply>(where, job, true, key);
      if (!reply) return tl::unexpected(std::move(reply.error()));
      if (other != nullptr)
        for (device::Sample& sample : reply->samples) --sample.arm;
      if (reply->evidence.fault) {
        if (*reply->evidence.fault == Verdict::runtime_failed) {
          where.stop();
          lost(where);
        }
        return tl::unexpected(rejected(reply->evidence));
      }
      if (management && throttled.empty()) throttled = management->throttle_reason();
      comparison.add(w, reply->samples, reply->tick_ms);
    }
    verdict = comparison.look();
  }
  result.verdict = *verdict;
  for (std::size_t w = 0; w < count; ++w) {
    const Estimate& part = comparison.part(w);
    result.parts.push_back(chained ? bench::chain(incumbent->parts[w], part) : part);
    const double reference_ms = chained ? reference_facts->times[w].ms : comparison.median_ms(w, 0);
    result.workloads.push_back(timing(w, reference_ms, comparison.median_ms(w, 1), result.parts.back()));
    note_limits(result, w);
  }
  result.estimate = chained ? bench::combine(result.parts, weights()) : comparison.estimate();
  if (chained && result.verdict != Verdict::implausible) {
    result.verdict = bench::decide(result.estimate, purpose, true).value_or(Verdict::inconclusive);
    result.message = fmt::format("{} over the reference: {} over the fastest before, which is {:.3g}x",
                                 outcome::text(result.estimate.speedup()), outcome::text(comparison.estimate().speedup()),
                                 std::exp(incumbent->mean));
  }
  if (!against && purpose == bench::Purpose::screening && outcome::is_right(result.verdict) &&
      (!incumbent || result.estimate.mean > incumbent->mean))
    incumbent = Incumbent{executable, result.parts, result.estimate.mean};
  if (!throttled.empty() || comparison.set_aside() > 0) result.labels.insert(Label::throttled);
  if (tenants || comparison.longest_stall_ms() > tenant_stall_ms) result.labels.insert(Label::tenant_suspect);
  if (management && !management->problem().empty()) result.labels.insert(Label::not_observable);
  return result;
}

// What a time says beside the verdict: that it is less than the task's bytes or its arithmetic as written allow.
void Judge::State::note_limits(Timed& timed, std::size_t w) const {
  if (bench::extraordinary(timed.workloads[w].share_of_bandwidth)) timed.below_floor = true;
  if (timed.below_floor || bench::extraordinary(timed.workloads[w].share_of_arithmetic))
    timed.labels.insert(Label::algebraic);
  double output_bytes = 0;
  for (const kernel::PlanBuffer& buffer : reference.workloads[w].buffers)
    if (buffer.role != kernel::PlanBuffer::Role::input && buffer.role != kernel::PlanBuffer::Role::scratch)
      output_bytes += static_cast<double>(buffer.bytes);
  if (base::defended(base::Defence::write_floor) && bench::implausible(timed.workloads[w].variant_ms, output_bytes, facts))
    timed.verdict = Verdict::implausible;
}

// Chaining costs precision, which is kept within bounds, and saves the reference's time, which must be most of it.
bool Judge::State::worth_chaining() const {
  if (!incumbent) return false;
  double total_ms = 0;
  for (const ReferenceFacts::Time& time : reference_facts->times) total_ms += time.ms;
  const bool precise = std::all_of(incumbent->parts.begin(), incumbent->parts.end(),
                                   [](const Estimate& part) { return part.half_width < chained_half_width; });
  return total_ms >= slow_reference_ms && std::exp(incumbent->mean) >= slow_reference_ratio && precise;
}

// Caches warm: a second column, never the result.
void Judge::State::measure_hot(DeviceHost& where, const Executable& executable, Timed& timed, const std::string& key) {
  const Step step(*this, "hot");
  if (lends()) try {
      const auto turns = take_turns(where, executable, hot_pairs, {chosen_baseline}, key, pytorch_turn, false);
      if (turns) timed.workloads.front().hot_speedup = bench::estimate(bench::log_ratios(turns->samples.at(chosen_baseline)), 0.05, 0).speedup().value;
      return;
    } catch (const base::Error&) {   // the cold times stand
      return;
    }
  for (std::size_t w = 0; w < task.workloads.size(); ++w) {
    TimeJob job;
    if (against) job.executables.push_back(*against);
    job.executables.push_back(executable);
    job.workload = w;
    job.order = bench::pair_order(hot_pairs, random);
    if (against)
      for (std::size_t& arm : job.order) ++arm;
    job.cold = false;
    job.seed = random.next();
    auto reply = ask<TimeReply>(where, job, true, key);
    if (!reply || reply->evidence.fault || reply->samples.size() != job.order.size()) return;
    if (against)
      for (device::Sample& sample : reply->samples) --sample.arm;
    timed.workloads[w].hot_speedup = bench::estimate(bench::log_ratios(reply->samples), 0.05, 0).speedup().value;
  }
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
    const double memory = result.share_of_bandwidth = limit.memory_ms / variant_ms;
    const double arithmetic = result.share_of_arithmetic = limit.arithmetic_ms / variant_ms;
    // Algebra may remove arithmetic, so only a share of it that is possible counts.
    const bool by_arithmetic = arithmetic > memory && arithmetic <= 1;
    result.share_of_limit = std::min(1.0, by_arithmetic ? arithmetic : memory);
    if (!facts.simulated && variant_ms < launch_bound_ms) result.limited_by = bench::launch_overhead;
    else if (result.share_of_limit >= 0.5) result.limited_by = by_arithmetic ? "FP32 arithmetic" : "memory bandwidth";
    else result.limited_by = "latency or access pattern";
  }
  return result;
}

void Judge::State::apply(const Timed& timed, outcome::Judgement& judgement) const {
  judgement.verdict = timed.verdict;
  judgement.predicted = facts.simulated;
  judgement.labels.insert(timed.labels.begin(), timed.labels.end());
  judgement.workloads = timed.workloads;
  judgement.baselines = timed.baselines;
  judgement.counters = timed.counters;
  judgement.hot_lines = timed.lines;
  if (!timed.predictions.empty() && timed.predictions.front().prediction) judgement.hardware = timed.predictions.front().prediction->shares;
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
  if (!timed.message.empty()) judgement.message = timed.message;
  for (const outcome::WorkloadTiming& workload : timed.workloads)
    if (!facts.simulated && workload.variant_ms < launch_bound_ms)
      judgement.labels.insert(outcome::Label::launch_bound);
}

}  // namespace cudal1::judge
