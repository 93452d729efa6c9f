// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "bench/order.hpp"
#include "judge/meant_source.hpp"
#include "judge/state.hpp"
#include "kernel/checker.hpp"
#include "task/module.hpp"

#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

using outcome::Verdict;

ReferenceJob Judge::State::reference_job() const {
  ReferenceJob job;
  job.executable = reference;
  job.meant.binary = meant_reference;
  job.declared_trials = options.trials;
  return job;
}

ReferenceReply Judge::State::load_reference(DeviceHost& where) {
  ReferenceJob job = reference_job();
  if (task::is_module(task) && !lends()) {
    const Step step(*this, "oracle");
    // A fresh process gets fresh inputs; the first one those of the run's seed.
    auto made = options.pytorch->cases(&where == &host ? seed : random.next(), options.trials);
    if (made.cases.empty())
      throw base::Error(base::Fault::bad_task, fmt::format("{}: no trial has finite expected outputs", task.file.name));
    job.cases = std::move(made.cases);
    reference_note = made.precision;
  }
  auto reply = ask<ReferenceReply>(where, job, true, "", GpuTurn::Use::shared);
  if (!reply)
    throw base::Error(base::Fault::bad_task, fmt::format("{}: the task's own kernel does not run: {}{}", task.file.name, reply.error().message,
                                                          task::picked_sizes_hint(task, reply.error().message)));
  if (reply->unsupported)
    throw base::Error(base::Fault::bad_task, fmt::format("{}: the simulator cannot run the task's own kernel: {}",
                                                          task.file.name, reply->broken));
  if (!reply->broken.empty())
    throw base::Error(base::Fault::bad_task,
                      fmt::format("{}: the task's own kernel is not right: {}{}", task.file.name, reply->broken,
                                  task::picked_sizes_hint(task, reply->broken)));
  if (lends()) lend(where);
  return *std::move(reply);
}

// A task that rewards no work is refused before anybody is asked to make it faster.
void Judge::State::judge_task(const std::vector<outcome::TaskFinding>& found, ReferenceFacts& reference_so_far) const {
  for (const outcome::TaskFinding& finding : found) {
    reference_so_far.findings.push_back(finding);
    if (!outcome::unsound(finding.verdict) || options.accept_degenerate) continue;
    throw base::Error(base::Fault::bad_task,
                      fmt::format("{}: {}: {}; no speed-up can be earned on it (--accept-degenerate judges it all the same){}",
                                  task.file.name, outcome::name(finding.verdict), finding.reason, task::picked_sizes_hint(task, finding.reason)));
  }
}

// For build pipelines: a task whose results nothing but its own kernel vouches for is refused.
void Judge::State::require_oracle(const ReferenceFacts& result) const {
  const bool enough = result.oracle || options.least_oracle == Options::Oracle::none || (options.least_oracle == Options::Oracle::shadow && result.shadow);
  if (enough) return;
  throw base::Error(base::Fault::bad_task,
                    options.least_oracle == Options::Oracle::torch
                        ? fmt::format("{}: --require-oracle torch: {}; write one, or let shadows count with --require-oracle shadow", task.file.name, task.no_oracle_reason)
                        : fmt::format("{}: --require-oracle shadow: {}; write a torch line", task.file.name, result.note));
}

// PyTorch is the reference: nothing is compiled, and it has no predicted time.
const ReferenceFacts& Judge::State::ensure_module_reference() {
  if (!options.against.empty())
    throw base::Error(base::Fault::usage, "--against compares answers to kernel files, not to a PyTorch module");
  const base::Seconds began = base::now();
  ReferenceFacts result;
  result.precision = options.precision;
  options.pytorch->hold_to(options.precision);
  judge_task(options.findings, result);
  for (const task::Workload& workload : task.checks) reference.checks.push_back(task::interface_plan(task, workload));
  for (const task::Workload& workload : task.workloads) reference.workloads.push_back(task::interface_plan(task, workload));
  ensure_ready();
  result.predicted = facts.simulated;
  result.oracle = true;
  result.note = reference_note;
  result.judgement.errors = reference_reply.errors;
  result.judgement.verdict = Verdict::equivalent;
  result.judgement.message = "the PyTorch module";
  result.judgement.speedup = outcome::Speedup{};
  result.judgement.predicted = facts.simulated;
  if (lends()) {
    compile_baselines();
    time_baselines(result);
  }
  result.judgement.seconds = (base::now() - began).count();
  result.judgement.step_seconds = steps;
  reference_facts = std::move(result);
  return *reference_facts;
}

const ReferenceFacts& Judge::State::ensure_reference() {
  if (reference_facts) {
    ensure_ready();
    return *reference_facts;
  }
  if (task::is_module(task)) return ensure_module_reference();
  const base::Seconds began = base::now();
  const auto fail = [&](const Rejected& rejected) {
    const std::string detail =
        rejected.diagnostics.empty() ? rejected.message : "\n" + base::render(rejected.diagnostics);
    throw base::Error(base::Fault::bad_task,
                      fmt::format("{}: the task's own kernel: {} {}", task.file.name, name(rejected.verdict), detail));
  };
  auto candidate = candidate_of(task.file);
  if (!candidate) fail(candidate.error());
  const kernel::Environment tunables = candidate->family.front();
  auto built = build(task, *candidate, tunables, compiler, arch);
  if (!built) fail(built.error());
  reference = *std::move(built);
  if (!task.torch && !kernel::checker(task.file)) meant_reference = build_meant(task, tunables, reference, compiler, arch);
  ensure_ready();
  const Step step(*this, "time");

  ReferenceFacts result;
  result.precision = options.precision;
  auto findings = reference_reply.findings;
  if (task.file.checks.empty() && !task.checks.empty())
    for (outcome::TaskFinding& finding : findings) finding.reason += fmt::format(" at {}", task.checks.front().label());
  judge_task(findings, result);
  result.predicted = facts.simulated;
  result.oracle = reference_reply.oracle;
  result.shadow = !result.oracle && reference_reply.shadow;
  result.note = task.torch ? "the torch line in double precision" : result.shadow ? reference_reply.shadow_note : task.no_oracle_reason;
  if (!result.oracle && !result.shadow && !reference_reply.shadow_note.empty()) result.note += ", and " + reference_reply.shadow_note;
  require_oracle(result);
  result.judgement = describe(reference, tunables);
  result.judgement.errors = reference_reply.errors;
  result.judgement.verdict = Verdict::equivalent;
  result.judgement.message = "the task's own kernel";
  result.judgement.speedup = outcome::Speedup{};
  result.judgement.predicted = facts.simulated;
  if (!result.oracle) result.judgement.labels.insert(result.shadow ? outcome::Label::shadow_oracle : outcome::Label::no_oracle);

  reference_predictions.clear();   // of a first try whose worker died
  for (std::size_t w = 0; w < task.workloads.size(); ++w) {
    ReferenceFacts::Time time;
    time.workload = task.workloads[w].label();
    const bench::Limit limit = bench::limit(task.necessary_bytes(w), task.written_operations(w), facts);
    time.speed_of_light_ms = limit.memory_ms;
    if (facts.simulated) {
      PredictJob job;
      job.workload = w;
      auto reply = ask<PredictReply>(host, job, true, "");
      if (!reply) fail(reply.error());
      if (!reply->prediction)
        throw base::Error(base::Fault::bad_task, fmt::format("{}: the task's own kernel fails at {}: {}",
                                                              task.file.name, time.workload, reply->message));
      time.ms = reply->prediction->ms;
      time.limited_by = reply->prediction->limited_by;
      result.judgement.counters += reply->prediction->counters;
      if (w == 0) result.judgement.hot_lines = reply->prediction->lines, result.judgement.hardware = reply->prediction->shares;
      reference_predictions.push_back(*std::move(reply));
    } else {
      TimeJob job;
      job.workload = w;
      job.order.assign(12, 0);
      job.seed = random.next();
      auto reply = ask<TimeReply>(host, job, true, "");
      if (!reply) fail(reply.error());
      if (reply->evidence.fault)
        throw base::Error(base::Fault::bad_task, fmt::format("{}: the task's own kernel fails at {}: {}",
                                                              task.file.name, time.workload, reply->evidence.message));
      judge_task(reply->findings, result);
      time.ms = bench::median_ms(reply->samples, 0);
    }
    outcome::WorkloadTiming timing_here = timing(w, time.ms, time.ms, bench::Estimate{});
    if (!time.limited_by.empty()) timing_here.limited_by = time.limited_by;
    time.limited_by = timing_here.limited_by;
    result.judgement.workloads.push_back(std::move(timing_here));
    result.times.push_back(std::move(time));
  }
  count(host, result.judgement, reference);
  if (!result.times.empty()) result.times.front().limited_by = result.judgement.workloads.front().limited_by;
  result.judgement.seconds = (base::now() - began).count();
  if (!options.against.empty()) prepare_against();
  reference_facts = std::move(result);
  return *reference_facts;
}

void Judge::State::prepare_against() {
  const auto fail = [&](const Rejected& rejected) {
    throw base::Error(base::Fault::bad_input, fmt::format("{}: {}: {}", options.against_name, name(rejected.verdict), rejected.message));
  };
  auto candidate = read_candidate(task, options.against, options.against_name);
  if (!candidate) fail(candidate.error());
  auto built = build(task, *candidate, candidate->family.front(), compiler, arch);
  if (!built) fail(built.error());
  const auto checked = check(host, *built, "");
  if (checked->verdict != Verdict::inconclusive) fail(*checked);
  against = *std::move(built);
  if (!facts.simulated) return;
  for (std::size_t w = 0; w < task.workloads.size(); ++w) {
    PredictJob job;
    job.executable = against;
    job.workload = w;
    auto reply = ask<PredictReply>(host, job, true, "");
    if (!reply) fail(reply.error());
    if (!reply->prediction) throw base::Error(base::Fault::bad_input, fmt::format("{}: {}", options.against_name, reply->message));
    reference_predictions[w] = *std::move(reply);
  }
}

}  // namespace cudal1::judge
