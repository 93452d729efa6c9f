// SPDX-License-Identifier: Apache-2.0
#include "judge/judge.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "bench/order.hpp"
#include "judge/meant_source.hpp"
#include "judge/state.hpp"
#include "kernel/checker.hpp"
#include "task/neighbours.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

}  // namespace

Judge::State::State(const task::Task& the_task, compile::Compiler& the_compiler, Options the_options)
    : task(the_task), compiler(the_compiler), options(std::move(the_options)), nearby(task::neighbours(task)),
      host(options.worker, options.remote), counter(options.worker, options.remote),
      seed(options.seed ? *options.seed : base::secret_seed()), random(seed, 2) {
  if (options.device != "sim" && !options.remote) watch_gpu();
  if (options.device != "sim" && options.remote) warnings.emplace_back("NVML is not asked over ssh, so other programs on the GPU and held-down clocks go unseen");
  open(host, seed);
  if (options.beside && !gpu_uuid.empty()) start_beside();
  arch = facts.arch();
  if (facts.simulated && !arch.empty() && arch.back() == 'a') arch.pop_back();  // PTX needs no feature of exactly one GPU
  std::error_code missing;
  if (options.hangs.empty() || !std::filesystem::exists(options.hangs, missing)) return;
  for (const std::string& line : base::split_lines(base::read_file(options.hangs))) hung.insert(line);
}

base::Seconds Judge::State::execution_limit(bool whole_workload) const {
  return whole_workload ? std::max(base::Seconds{120}, 12 * options.run_limit) : options.run_limit;
}

OpenJob Judge::State::open_job(std::uint64_t with_seed, bool bare) const {
  OpenJob job;
  job.device = options.device;
  job.gpu = options.gpu;
  job.own_gpu = options.own_gpu;
  job.source = task.file.source;
  job.path = task.path.string();
  job.workloads = task.workloads;
  job.checks = task.checks;
  job.neighbours = nearby;
  job.precision = options.precision;
  job.seed = with_seed;
  job.takes_turns = options.remote;
  job.bare = bare;
  return job;
}

void Judge::State::open(DeviceHost& where, std::uint64_t with_seed, bool bare) {
  const auto hold = hold_gpu(GpuTurn::Use::shared);
  DeviceHost::Answer answer = where.ask(open_job(with_seed, bare), base::Seconds{60}, base::Seconds{120});
  auto* reply = answer.reply ? std::get_if<OpenReply>(&*answer.reply) : nullptr;
  if (reply == nullptr)
    throw base::Error(base::Fault::no_device, fmt::format("{} cannot be opened: {}", options.device, answer.last_words));
  facts = std::move(reply->facts);
}

ReferenceJob Judge::State::reference_job() const {
  ReferenceJob job;
  job.executable = reference;
  job.meant.binary = meant_reference;
  job.declared_trials = options.trials;
  return job;
}

CheckJob Judge::State::check_job(const Executable& executable, CheckJob::Where on, bool at_full_size) const {
  CheckJob job;
  job.executable = executable;
  job.where = on;
  job.full_size = at_full_size;
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

void Judge::State::lost(const DeviceHost& where) {
  if (&where == &host) ready = false;
}

void Judge::State::ensure_ready() {
  if (ready && host.alive()) return;
  const Step step(*this, "start");
  if (!host.alive()) open(host, seed);
  reference_reply = load_reference(host);
  ready = true;
}

void Judge::State::restart(DeviceHost& where) { &where == &host ? ensure_ready() : start(where); }

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

std::optional<Rejected> Judge::State::check(DeviceHost& where, const Executable& executable, const std::string& key,
                                            CheckJob::Where on, bool timed_later) {
  if (lends()) return check_lent(where, executable, key, on);
  const Step step(*this, "check");
  // A final verdict asks for both.
  const CheckJob job = check_job(executable, on, facts.simulated || &where != &host || !timed_later);
  // A worker that is lost can be had again for the warm one alone.
  auto reply = ask<CheckReply>(where, job, false, key, &where == &host ? GpuTurn::Use::shared : GpuTurn::Use::alone);
  if (!reply && std::exchange(crowded, false)) {
    ensure_ready();
    reply = ask<CheckReply>(where, job, false, key);
  }
  if (!reply) return std::move(reply.error());
  verify::Evidence& evidence = reply->evidence;
  if (options.printed && !evidence.printed.empty()) options.printed(evidence.printed);
  if (!evidence.fault) {
    Rejected fine;
    fine.errors = evidence.errors;
    if (facts.simulated) fine.sanitizer = "passed";   // the simulator is its own sanitizer
    return fine;
  }
  Rejected judgement = rejected(std::move(evidence));
  // On a GPU such a fault is sticky: the process is of no more use.
  if (!facts.simulated && (judgement.verdict == Verdict::runtime_failed || judgement.verdict == Verdict::timeout)) {
    where.stop();
    lost(where);
  }
  if (judgement.verdict == Verdict::timeout) remember_hang(key);
  return judgement;
}

Judge::Judge(const task::Task& task, compile::Compiler& compiler, Options options)
    : state_(std::make_unique<State>(task, compiler, std::move(options))) {}

Judge::~Judge() = default;

const outcome::DeviceFacts& Judge::device() const { return state_->facts; }

const std::vector<std::string>& Judge::warnings() const { return state_->warnings; }

const ReferenceFacts& Judge::reference() {
  const std::lock_guard lock(state_->mutex);
  const ReferenceFacts& facts = state_->ensure_reference();
  state_->steps.clear();
  state_->waited = 0;
  return facts;
}

outcome::Judgement Judge::screen(const std::string& source, const std::string& name) { return examine(source, name, Depth::timed); }

outcome::Judgement Judge::verify(const std::string& source, const std::string& name) { return examine(source, name, Depth::verified); }

std::optional<outcome::Judgement> Judge::compile(const std::string& source, const std::string& name) {
  const auto candidate = read_candidate(state_->task, source, name);
  if (!candidate) return candidate.error();
  // One member that compiles is enough: the others are tried before the verdict is that none does.
  std::optional<outcome::Judgement> first;
  for (const kernel::Environment& tunables : candidate->family) {
    const auto built = build(state_->task, *candidate, tunables, state_->compiler, state_->arch);
    if (built) return std::nullopt;
    if (!first) first = built.error();
  }
  return first;
}

outcome::Judgement Judge::examine(const std::string& source, const std::string& name, Depth depth) {
  // Compiled before it is this one's turn, so that the compilers work while the device does.
  const base::Seconds began = base::now();
  auto candidate = read_candidate(state_->task, source, name);
  Built ahead;
  if (candidate) ahead = state_->build_ahead(*candidate);
  const base::Seconds compiled = base::now();
  const std::lock_guard lock(state_->mutex);
  state_->steps["compile"] = (compiled - began).count();
  state_->waited = (base::now() - compiled).count();
  outcome::Judgement judgement;
  if (candidate) {
    state_->ensure_reference();
    judgement = state_->judge(*candidate, source, std::move(ahead), depth == Depth::timed);
  } else {
    judgement = std::move(candidate.error());
  }
  state_->finish(judgement, outcome::Level::screening, began);
  return judgement;
}

bool Judge::in_order() const { return task::is_module(state_->task) && state_->facts.simulated; }

void Judge::recall(const std::string& source, const std::string& name, const outcome::Judgement& judgement) {
  if (!task::is_module(state_->task) || !outcome::is_right(judgement.verdict)) return;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->facts.simulated || !state_->reference_predictions.empty()) return;
  }
  screen(source, name);
}

outcome::Judgement Judge::confirm(const std::string& source, const std::string& name,
                                  const std::map<std::string, std::int64_t>& tunables) {
  const std::lock_guard lock(state_->mutex);
  const base::Seconds began = base::now();
  auto candidate = read_candidate(state_->task, source, name);
  outcome::Judgement judgement;
  if (candidate) {
    kernel::Environment environment(tunables.begin(), tunables.end());
    state_->ensure_reference();
    judgement = state_->confirm(*candidate, environment, source);
  } else {
    judgement = std::move(candidate.error());
  }
  state_->finish(judgement, outcome::Level::final_, began);
  return judgement;
}

}  // namespace cudal1::judge
