// SPDX-License-Identifier: Apache-2.0
#include "judge/judge.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "judge/state.hpp"
#include "task/module.hpp"
#include "task/neighbours.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

using outcome::Verdict;

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

CheckJob Judge::State::check_job(const Executable& executable, CheckJob::Where on, bool at_full_size) const {
  CheckJob job;
  job.executable = executable;
  job.where = on;
  job.full_size = at_full_size;
  return job;
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
