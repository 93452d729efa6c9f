// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "bench/order.hpp"
#include "judge/pytorch_turns.hpp"
#include "judge/state.hpp"
#include "judge/timed_arms.hpp"
#include "pytorch/kernel_module.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

// A PyTorch module on a device that measures: PyTorch makes the inputs in the worker's memory, judges the outputs there,
// and its own times are what variants are compared with.
namespace cudal1::judge {

namespace {

using outcome::Verdict;

constexpr int comparison_limit = 24;          // of timed outputs by PyTorch, before only some are
constexpr std::size_t first_trials = 3;       // of a large task: declared inputs, secret weights, and one of the others
constexpr int spare_share = 64;               // of the GPU's memory: a task that takes no more leaves room for PyTorch all the time

}  // namespace

bool Judge::State::lends() const { return task::is_module(task) && !facts.simulated; }

void Judge::State::with_pytorch(const std::function<void(pytorch::Host&)>& work, GpuTurn::Use use) {
  const auto lock = hold_gpu(use);
  work(*options.pytorch);
}

Judge::State::Lent Judge::State::drawn(std::size_t sets) {
  Lent result;
  result.trials = options.pytorch->trials(random);
  pytorch::Trial timed = options.pytorch->timed_trial(random);   // all versions with the same weights, which are secret
  const auto next = [&] {
    timed.seed = random.next() >> 2;
    return timed;
  };
  for (int more = pytorch::Host::usual_declared; more < options.trials; ++more) result.trials.push_back(next());
  for (std::size_t i = 0; i < sets; ++i) result.versions.push_back(next());
  result.right.resize(sets);
  result.last = options.pytorch->timed_trial(random);
  return result;
}

// A worker's memory in PyTorch's hands, in place of an earlier one's.
void Judge::State::lend(DeviceHost& where) {
  with_pytorch([](pytorch::Host& pytorch) { pytorch.detach(pytorch::Host::Truths::kept); });
  auto reply = ask<LendReply>(where, LendJob{}, true, "", GpuTurn::Use::shared);
  if (!reply)
    throw base::Error(base::Fault::no_memory, fmt::format("{}: the task's tensors do not fit on {}: {}", task.file.name, options.device,
                                                          reply.error().message));
  std::optional<Lent>& kept = &where == &host ? for_screening : for_confirming;
  if (!kept) kept = drawn(reply->places.size());
  lent = *kept;
  with_pytorch([&](pytorch::Host& pytorch) { pytorch.attach(reply->places); });
}

tl::expected<void, Rejected> Judge::State::fill(DeviceHost& where, std::size_t set, const pytorch::Trial& trial, GpuTurn::Use use) {
  with_pytorch([&](pytorch::Host& pytorch) { pytorch.fill(set, trial); });
  SealJob job;
  job.set = set;
  if (auto sealed = ask<RunReply>(where, job, true, "", use); !sealed) return tl::unexpected(std::move(sealed.error()));
  return {};
}

// Once more, alone, where a worker ran into its limit beside others; it starts with nothing filled.
tl::expected<void, Rejected> Judge::State::fill_versions(DeviceHost& where) {
  const auto fill_all = [&](GpuTurn::Use use) -> tl::expected<void, Rejected> {
    for (std::size_t set = 0; lends() && !lent.filled && set < lent.versions.size(); ++set)
      if (auto filled = fill(where, set, lent.versions[set], use); !filled) return filled;
    lent.filled = true;
    return {};
  };
  auto filled = fill_all(GpuTurn::Use::shared);
  if (filled || !std::exchange(crowded, false)) return filled;
  restart(where);
  return fill_all(GpuTurn::Use::alone);
}

// The outputs that stand in a set, against those of a trial.
pytorch::Comparison Judge::State::compare(std::size_t set, const pytorch::Trial& trial) {
  pytorch::Comparison result;
  with_pytorch([&](pytorch::Host& pytorch) { result = pytorch.compare(set, trial); });
  reference_note = result.precision;
  constexpr base::Seconds worth_telling{0.01};
  if (result.closer > worth_telling) steps["closer looks"] += result.closer.count();
  return result;
}

// A variant that hangs where others share the GPU is tried once more, alone.
Rejected Judge::State::check_lent(DeviceHost& where, const Executable& executable, const std::string& key, CheckJob::Where on) {
  Rejected found = check_trials(where, executable, key, on, GpuTurn::Use::shared);
  if (!std::exchange(crowded, false)) return found;
  restart(where);
  return check_trials(where, executable, key, on, GpuTurn::Use::alone);
}

Rejected Judge::State::check_trials(DeviceHost& where, const Executable& executable, const std::string& key, CheckJob::Where on, GpuTurn::Use use) {
  const Step step(*this, "check");
  Kept turn(*this, use);
  std::vector<pytorch::Trial> trials = lent.trials;
  const bool dear = lent.versions.size() == 1 && &where == &host;   // a large task, before its final verdict
  if (dear && trials.size() > first_trials) {
    std::swap(trials[first_trials - 1], trials[first_trials - 1 + random.below(trials.size() - first_trials + 1)]);
    trials.resize(first_trials);
  }
  if (on == CheckJob::Where::fresh) trials = {lent.last};
  Rejected result;
  result.verdict = Verdict::inconclusive;
  lent.filled = false;
  bool load = true;
  for (const pytorch::Trial& trial : trials) {
    turn.give_way();
    if (auto filled = fill(where, 0, trial, use); !filled) return filled.error();
    const bool first = load;
    for (const bool finite : {false, true}) {
      // Of a large task the second run, from wrong numbers, waits for the final verdict.
      if (finite && (!first || dear)) continue;
      RunJob job;
      job.executable = executable;
      job.finite = finite;
      job.load = std::exchange(load, false);
      auto reply = ask<RunReply>(where, job, false, key, use);
      if (!reply) return reply.error();
      if (auto broken = failed(where, *reply, trial, key)) return *std::move(broken);
      const pytorch::Comparison found = compare(0, trial);
      if (!found.finite) continue;
      if (!found.right) return wrong_result(found, trial_name(trial));
      result.errors.relative_l2 = std::max(result.errors.relative_l2, found.errors.relative_l2);
      result.errors.max_absolute = std::max(result.errors.max_absolute, found.errors.max_absolute);
      result.errors.reference_relative_l2 = std::max(result.errors.reference_relative_l2, found.errors.reference_relative_l2);
      result.errors.kernelbench_tolerance = std::max(result.errors.kernelbench_tolerance, found.kernelbench_tolerance);
      ++result.errors.trials;
    }
  }
  if (result.errors.trials == 0)
    throw base::Error(base::Fault::bad_task, fmt::format("{}: no trial has finite expected outputs", task.file.name));
  return result;
}

std::optional<Rejected> Judge::State::failed(DeviceHost& where, const RunReply& reply, const pytorch::Trial& trial, const std::string& key) {
  if (!reply.evidence.fault) return std::nullopt;
  Rejected result;
  result.verdict = *reply.evidence.fault;
  result.message = fmt::format("{} ({})", reply.evidence.message, trial_name(trial));
  if (result.verdict != Verdict::tampered) {   // sticky: the process is of no more use
    where.stop();
    lost(where);
  }
  if (result.verdict == Verdict::timeout) remember_hang(key);
  return result;
}

tl::expected<void, Rejected> Judge::State::look_ahead(DeviceHost& where, const Executable& executable, const std::string& key) {
  if (!base::defended(base::Defence::timed_outputs)) return {};
  Kept turn(*this, GpuTurn::Use::shared);
  RunJob job;
  job.executable = executable;
  for (job.set = 0; job.set < lent.versions.size(); ++job.set) {
    turn.give_way();
    const auto reply = ask<RunReply>(where, job, false, key, GpuTurn::Use::shared);
    job.load = false;
    if (!reply && std::exchange(crowded, false)) {   // its times are taken alone
      restart(where);
      return fill_versions(where);
    }
    if (!reply) return tl::unexpected(reply.error());
    if (auto broken = failed(where, *reply, lent.versions[job.set], key)) return tl::unexpected(*std::move(broken));
    auto& right = lent.right[job.set];
    if (std::find(right.begin(), right.end(), reply->digest) != right.end()) continue;
    ++lent.compared;
    const pytorch::Comparison found = compare(job.set, lent.versions[job.set]);
    if (!found.right && found.finite) return tl::unexpected(wrong_result(found, "on inputs that it is timed on"));
    right.push_back(reply->digest);
  }
  return {};
}

tl::expected<TimeReply, Rejected> Judge::State::time_arms(DeviceHost& where, TimeJob job, const std::string& key) {
  if (!lends()) return ask<TimeReply>(where, job, true, key);
  if (auto filled = fill_versions(where); !filled) return tl::unexpected(std::move(filled.error()));
  TimeReply all;
  while (!job.order.empty()) {
    job.right = lent.right;
    job.sparing = lent.compared > comparison_limit;
    auto reply = ask<TimeReply>(where, job, true, key);
    if (!reply || reply->evidence.fault) return reply;
    if (reply->unknown) {
      ++lent.compared;
      const pytorch::Comparison found = compare(reply->unknown->set, lent.versions[reply->unknown->set]);
      if (!found.right && found.finite) return tl::unexpected(wrong_result(found, "in an execution that was timed"));
      lent.right[reply->unknown->set].push_back(reply->unknown->digest);
    }
    if (reply->samples.empty()) break;
    job.order.erase(job.order.begin(), job.order.begin() + static_cast<std::ptrdiff_t>(std::min(job.order.size(), reply->samples.size())));
    job.seed = random.next();
    all.tick_ms = reply->tick_ms;
    all.samples.insert(all.samples.end(), reply->samples.begin(), reply->samples.end());
  }
  return all;
}

// Pairs of one variant with each of several baselines: a few samples of PyTorch's and a few of the variant in turns.
tl::expected<Judge::State::Turns, Rejected> Judge::State::take_turns(DeviceHost& where, const Executable& executable, int pairs,
                                                                     std::vector<std::string> baselines, const std::string& key,
                                                                     std::size_t turn, bool cold) {
  Turns result;
  if (auto filled = fill_versions(where); !filled) return tl::unexpected(std::move(filled.error()));   // PyTorch may read them too
  const Kept all_pairs(*this, GpuTurn::Use::alone);
  for (auto left = static_cast<std::size_t>(pairs); left > 0;) {
    const std::size_t count = std::min(turn, left);
    left -= count;
    std::vector<std::string> order;
    pytorch::Host::Times theirs;
    for (std::size_t i = 0; i < count; ++i)
      for (const std::size_t index : shuffled(baselines.size(), random)) order.push_back(baselines[index]);
    const auto time_pytorch = [&] { with_pytorch([&](pytorch::Host& pytorch) { theirs = pytorch.time(order, baselines.front(), cold); }, GpuTurn::Use::alone); };
    const bool pytorch_first = random.below(2) == 0;
    if (pytorch_first) time_pytorch();
    TimeJob job;
    job.executables.push_back(executable);
    job.order.assign(count, 1);
    job.cold = cold;
    job.seed = random.next();
    auto mine = time_arms(where, std::move(job), key);
    if (!mine) return tl::unexpected(std::move(mine.error()));
    if (mine->evidence.fault) {
      Rejected failed;
      failed.verdict = *mine->evidence.fault;
      failed.message = mine->evidence.message;
      if (failed.verdict == Verdict::runtime_failed) where.stop(), lost(where);
      return tl::unexpected(std::move(failed));
    }
    if (!pytorch_first) time_pytorch();
    result.tick_ms = std::max(mine->tick_ms, hand_over_ms);
    std::map<std::string, std::size_t> next;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t pair = next[order[i]]++;
      if (pair >= mine->samples.size() || std::isnan(theirs.ms[i])) continue;
      device::Sample variant = mine->samples[pair];
      const double events_ms = variant.slope ? 0 : theirs.empty_ms;   // both with what the clock takes, or both without
      variant.arm = 1;
      variant.span_ms = variant.ms;
      device::Sample baseline;
      baseline.set = variant.set;
      baseline.ms = baseline.span_ms = theirs.ms[i] + events_ms;
      auto& samples = result.samples[order[i]];
      samples.push_back(pytorch_first ? baseline : variant);
      samples.push_back(pytorch_first ? variant : baseline);
    }
    for (const auto& [name, why] : theirs.failed) {   // left out from now on
      if (lends() && name == chosen_baseline)
        throw base::Error(base::Fault::bad_task, fmt::format("{}: {} cannot be timed any more: {}", task.file.name, name, why));
      result.failed[name] = why;
      std::erase(baselines, name);
    }
    if (baselines.empty()) break;
  }
  for (const auto& [name, why] : result.failed) result.samples.erase(name);
  return result;
}

std::vector<outcome::BaselineTiming> Judge::State::against_baselines(const std::vector<std::string>& names, Turns& turns,
                                                                     const std::vector<outcome::BaselineTiming>& known) const {
  std::vector<outcome::BaselineTiming> result;
  for (const std::string& name : names) {
    const std::vector<device::Sample>& samples = turns.samples[name];
    if (samples.empty() || turns.failed.contains(name)) continue;
    outcome::BaselineTiming baseline;
    baseline.name = name;
    baseline.ms = bench::median_ms(samples, 0);
    baseline.speedup = bench::estimate(bench::log_ratios(samples), 0.05, bench::timer_guard(turns.tick_ms, bench::shortest_ms(samples))).speedup();
    result.push_back(std::move(baseline));
  }
  for (const outcome::BaselineTiming& each : known) {
    if (const auto failed = turns.failed.find(each.name); failed != turns.failed.end()) result.emplace_back(each).failed = failed->second;
    else if (!each.failed.empty()) result.push_back(each);
  }
  return result;
}

// What failed when it was timed is not asked for again.
void Judge::State::give_up(const std::map<std::string, std::string>& failed) {
  for (outcome::BaselineTiming& each : reference_facts->judgement.baselines)
    if (const auto found = failed.find(each.name); found != failed.end()) each.failed = found->second;
}

tl::expected<Judge::State::Timed, Rejected> Judge::State::measure_lent(DeviceHost& where, const Executable& executable,
                                                                       bench::Purpose purpose, const std::string& key) {
  const Step step(*this, "time");
  const bool final_look = purpose == bench::Purpose::final_;
  std::vector<std::string> baselines{chosen_baseline};
  for (const outcome::BaselineTiming& each : reference_facts->judgement.baselines)
    if (each.failed.empty() && each.name != chosen_baseline) baselines.push_back(each.name);
  bench::Comparison comparison(purpose, {1.0}, options.gpu_budget_ms, options.final_pairs);
  Turns all;
  std::string throttled;
  std::optional<Verdict> verdict;
  bool seen = false;
  while (!verdict) {
    if (lent.versions.size() == 1) {   // too large for several sets: other values for every look
      lent.versions[0].seed = random.next() >> 2;
      lent.right[0].clear();
      lent.filled = seen = false;
    }
    if (!std::exchange(seen, true)) {
      auto filled = fill_versions(where);
      if (filled) filled = look_ahead(where, executable, key);
      if (!filled) return tl::unexpected(std::move(filled.error()));
    }
    // Of the baselines that do not decide, a screening takes what its first look needs.
    const bool every = final_look || all.samples.empty();
    auto turns = take_turns(where, executable, comparison.wanted(0), every ? baselines : std::vector{chosen_baseline}, key);
    if (!turns) return tl::unexpected(std::move(turns.error()));
    all.tick_ms = turns->tick_ms;
    comparison.add(0, turns->samples[chosen_baseline], all.tick_ms);
    for (const auto& [name, more] : turns->samples) all.samples[name].insert(all.samples[name].end(), more.begin(), more.end());
    give_up(turns->failed);
    for (const auto& [name, why] : turns->failed) std::erase(baselines, name), all.failed[name] = why;
    if (management && throttled.empty()) throttled = management->throttle_reason();
    verdict = comparison.look();
  }
  Timed result;
  result.verdict = *verdict;
  result.parts.push_back(comparison.part(0));
  result.estimate = comparison.estimate();
  result.workloads.push_back(timing(0, comparison.median_ms(0, 0), comparison.median_ms(0, 1), result.parts.back()));
  note_limits(result, 0);
  result.baselines = against_baselines(baselines, all, reference_facts->judgement.baselines);
  if (!throttled.empty() || comparison.set_aside() > 0) result.labels.insert(outcome::Label::throttled);
  if (tenants) result.labels.insert(outcome::Label::tenant_suspect);
  if (management && !management->problem().empty()) result.labels.insert(outcome::Label::not_observable);
  return result;
}

// A kernel file's torch line in PyTorch, made ready to be timed.
void Judge::State::start_beside() {
  Beside::Module module{task.file.name, pytorch::kernel_module(task, task.workloads.front()), options.baselines,
                        task.necessary_bytes(0) > static_cast<double>(facts.memory_bytes) / spare_share};
  beside = std::make_unique<Beside>(options.beside, std::move(module), gpu_lock());
}

std::string Judge::State::spilled(DeviceHost& where) {
  if (input_file) return input_file->path();
  if (!where.alive()) start(where);
  if (auto filled = fill_versions(where); !filled) throw base::Error(base::Fault::no_device, filled.error().message);
  auto made = std::make_unique<InputFile>(reference.workloads.front());
  SpillJob job;
  job.path = made->path();
  if (auto reply = ask<RunReply>(where, job, true, "", GpuTurn::Use::shared); !reply) throw base::Error(base::Fault::no_device, reply.error().message);
  input_file = std::move(made);
  return input_file->path();
}

// PyTorch's times for a torch line at the first workload, in turns with a variant that is right.
std::vector<outcome::BaselineTiming> Judge::State::time_beside(DeviceHost& where, const Executable& executable, const std::string& key) {
  constexpr int beside_pairs = 24;
  constexpr std::size_t beside_turn = 8;   // each begins with loading, which takes a variant longer than its samples do
  if (!beside) return {};
  const Step step(*this, "pytorch");
  const Beside::Ready& made = beside->ready();
  if (made.host == nullptr) return {};
  options.pytorch = made.host;
  std::vector<std::string> names;
  for (const outcome::BaselineTiming& each : made.baselines)
    if (each.failed.empty()) names.push_back(each.name);
  if (names.empty()) return made.baselines;
  try {
    if (!where.alive()) start(where);
    auto turns = take_turns(where, executable, beside_pairs, names, key, beside_turn);
    if (!turns) return {};   // nothing wrong was found, and this is no check
    return against_baselines(names, *turns, made.baselines);
  } catch (const base::Error& error) {   // PyTorch is gone: what is known of the variant stands
    std::vector<outcome::BaselineTiming> result = made.baselines;
    for (outcome::BaselineTiming& each : result)
      if (each.failed.empty()) each.failed = error.what();
    return result;
  }
}

}  // namespace cudal1::judge
