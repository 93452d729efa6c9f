// SPDX-License-Identifier: Apache-2.0
#include "judge/session.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "cuda/cuda.hpp"
#include "judge/input_file.hpp"
#include "judge/watched_device.hpp"
#include "kernel/checker.hpp"
#include "sim/sim.hpp"
#include "verify/task_gate.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;
using Status = device::RunResult::Status;

constexpr double pattern_operations = 2e7;    // above this y64 under every pattern is too dear
constexpr std::uint64_t known_seed = 42;      // where values are not fresh
constexpr double simulated_threads = 65536;   // above this the simulator does not run a whole workload to verify it
constexpr double simulated_operations = 2e7;
constexpr double stressed_operations = 2e8;   // up to which sigma is known of every element at full size (verify/case.cpp)
constexpr base::Seconds patience{5};          // with a variant's trials on a GPU, before they are compared with the reference's
constexpr double much_longer = 50;            // than the reference's: nobody wants such a variant

std::unique_ptr<device::Device> open_device(const OpenJob& job) {
  if (job.device == "sim") return sim::open({.gpu = job.gpu, .seed = job.seed, .own = job.own_gpu});
  constexpr std::string_view prefix = "cuda:";
  if (job.device.starts_with(prefix))
    return cuda::open(std::stoi(job.device.substr(prefix.size())), {.exact_allocations = job.bare});
  throw base::Error(base::Fault::usage, fmt::format("\"{}\" is no device; give sim or cuda:N", job.device));
}

task::Task read_task(const OpenJob& job) {
  task::Task task = task::from_source(job.source, job.path, {}, std::numeric_limits<std::size_t>::max());
  task.workloads = job.workloads;  // as the user's overrides made them
  task.checks = job.checks;
  return task;
}

double threads_of(const kernel::Plan& plan) {
  double threads = 0;
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<kernel::Launch>(&step);
    if (launch == nullptr) continue;
    double count = 1;
    for (const auto& extent : {launch->grid, launch->block})
      for (const std::uint32_t part : extent) count *= part;
    threads += count;
  }
  return threads;
}

}  // namespace

Session::Session(const OpenJob& job, std::function<void(bool)> tell)
    : device_(watch(open_device(job), std::move(tell), job.bare)), task_(read_task(job)), random_(job.seed, 1), seed_(job.seed),
      threads_(static_cast<int>(std::min<std::size_t>(base::cores(), 16))), precision_(job.precision),
      neighbours_(job.neighbours) {
  if (!base::defended(base::Defence::fresh_values)) seed_ = known_seed;
}

verify::Evidence Session::failed(std::string message) {
  verify::Evidence evidence;
  evidence.fault = Verdict::runtime_failed;
  evidence.message = std::move(message);
  return evidence;
}

Session::Loaded Session::load(const outcome::Binary& binary) {
  Loaded loaded;
  auto module = device_->load(binary);
  if (module) loaded.module = *std::move(module);
  else loaded.failure = module.error();
  return loaded;
}

bool Session::small_enough(std::size_t workload) const {
  if (!device_->facts().simulated) return true;
  return threads_of(reference_.workloads[workload]) <= simulated_threads && reference::operations(task_, workload) <= simulated_operations;
}

ReferenceReply Session::reference(ReferenceJob job) {
  ReferenceReply reply;
  timed_.clear();
  full_cases_.clear();
  simulated_truth_.clear();
  executed_.clear();
  cases_.clear();
  case_sizes_.clear();
  reference_ = std::move(job.executable);
  if (task::is_module(task_)) return take(job.cases);
  reference_module_ = load(reference_.binary);
  if (reference_module_.failure) {
    reply.broken = reference_module_.failure->message;
    reply.unsupported = reference_module_.failure->status == Status::unsupported;
    return reply;
  }
  reply.oracle = task_.torch.has_value() || kernel::checker(task_.file);
  shadows_ = reply.oracle ? nullptr : std::make_unique<ShadowOracle>(task_, job.meant.binary.ptx.empty() ? reference_.binary : job.meant.binary, seed_);
  reply.shadow = shadows_ != nullptr;
  for (std::size_t size = 0; size < task_.checks.size(); ++size) {
    const verify::Program program{reference_module_.module.get(), &reference_.checks[size]};
    const verify::CaseOptions options = check_options(size);
    const bool every_pattern = size == 0 && reference::operations(task_, options.assignment) <= pattern_operations;
    const auto trials = reference::trials(task_, task_.checks[size], seed_, job.declared_trials, every_pattern, precision_);
    for (const reference::Trial& trial : trials) {
      auto made = verify::make_case(*device_, task_, task_.checks[size], trial, program, random_, options);
      if (made) {
        reply.oracle = reply.oracle && (made->oracle || !task_.torch);
        if (trial.pattern == reference::Pattern::declared) reply.shadow = reply.shadow && made->shadowed;
        if (shadows_) shadows_->figures.refuted += made->refuted;
        note_errors(*made, reply.errors);
        cases_.push_back(*std::move(made));
        case_sizes_.push_back(size);
        continue;
      }
      const std::string label = fmt::format("{}, {}", task_.checks[size].label(), reference::name(trial.pattern));
      if (trial.pattern == reference::Pattern::declared) {
        reply.broken = fmt::format("{} ({})", made.error(), label);
        return reply;
      }
      reply.dropped.push_back(fmt::format("{} ({})", made.error(), label));
    }
  }
  if (shadows_) reply.shadow_note = reply.shadow ? shadows_->note() : shadows_->why_not();
  reply.cases = static_cast<int>(cases_.size());
  reply.errors.trials = reply.cases;
  if (!base::defended(base::Defence::task_gate)) return reply;
  verify::TaskFigures figures =
      verify::observe(*device_, task_, task_.checks.front(),
                      {reference_module_.module.get(), &reference_.checks.front()}, seed_, random_);
  for (const verify::Case& subject : cases_)
    // Without an oracle sigma is assumed from lengths, not observed.
    if (subject.oracle && subject.trial.pattern == reference::Pattern::declared)
      figures.rounding = std::max(figures.rounding, verify::rounding_of(subject, precision_));
  reply.findings = verify::examine(figures);
  return reply;
}

verify::CaseOptions Session::check_options(std::size_t check) {
  verify::CaseOptions options;
  options.assignment = task_.workloads.size() + check;
  options.precision = precision_;
  options.threads = threads_;
  if (shadows_)
    options.shadows = [this](const auto& workload, const auto& plan, const auto& inputs) { return shadows_->truth(workload, plan, inputs, precision_); };
  return options;
}

void Session::note_errors(const verify::Case& subject, outcome::ErrorFigures& errors) const {
  for (const reference::Expected& expected : subject.expected) {
    if (expected.reference.empty()) continue;
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < expected.truth.size(); ++i) {
      if (!std::isfinite(expected.truth[i])) continue;
      error += std::pow(expected.reference[i] - expected.truth[i], 2);
      norm += std::pow(expected.truth[i], 2);
    }
    if (norm > 0) errors.reference_relative_l2 = std::max(errors.reference_relative_l2, std::sqrt(error / norm));
  }
}

ReferenceReply Session::take(const std::vector<reference::StoredCase>& stored) {
  ReferenceReply reply;
  reply.oracle = true;
  for (const reference::StoredCase& each : stored) {
    auto read = reference::read(each, task_, task_.checks.front());
    verify::Case subject;
    subject.workload = task_.checks.front();
    subject.trial = each.trial;
    subject.inputs = std::move(read.inputs);
    subject.expected = std::move(read.expected);
    subject.oracle = true;
    // Where PyTorch and a variant may choose between equals, the derived line knows what they choose from.
    const bool chooses = std::any_of(subject.expected.begin(), subject.expected.end(),
                                     [](const auto& expected) { return expected.dtype == tensor::Dtype::int64; });
    if (chooses && reference::operations(task_, 0) <= reference::affordable_operations)
      if (const auto line = reference::oracle(task_, subject.workload, subject.inputs, std::nullopt, threads_))
        for (std::size_t i = 0; i < line->size(); ++i) subject.expected[i].choice = (*line)[i].choice;
    note_errors(subject, reply.errors);
    cases_.push_back(std::move(subject));
    case_sizes_.push_back(0);
  }
  reply.cases = static_cast<int>(cases_.size());
  reply.errors.trials = reply.cases;
  return reply;
}

CheckReply Session::check(const CheckJob& job) {
  try {
    return check_all(job);
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::no_memory) throw;
    return {failed(error.what())};
  } catch (const std::bad_alloc&) {
    return {failed("out of memory")};
  }
}

CheckReply Session::check_all(const CheckJob& job) {
  CheckReply reply;
  const Loaded variant = load(job.executable.binary);
  if (variant.failure) {
    reply.evidence.fault = verify::fault(*variant.failure);
    reply.evidence.message = variant.failure->message;
    return reply;
  }
  if (job.only_run) {
    only_run(job, *variant.module, reply.evidence);
    return reply;
  }
  switch (job.where) {
    case CheckJob::Where::check_sizes: check_trials(job, *variant.module, reply.evidence); break;
    case CheckJob::Where::fresh: check_on_fresh_inputs(job.executable, *variant.module, reply.evidence); break;
    case CheckJob::Where::neighbours: check_neighbours(job.executable, *variant.module, reply.evidence); break;
  }
  return reply;
}

void Session::check_trials(const CheckJob& job, const device::Module& module, verify::Evidence& evidence) {
  // Trials of one size share their memory: what a variant may remember by address is then out of date.
  std::vector<std::unique_ptr<reference::Buffers>> places(task_.checks.size());
  base::Seconds spent{0}, least{0};
  for (std::size_t i = 0; i < cases_.size() && !evidence.fault; ++i) {
    if (!base::defended(base::Defence::declared_checks)) break;
    const verify::Program program{&module, &job.executable.checks[case_sizes_[i]]};
    auto& place = places[case_sizes_[i]];
    const bool first = !place;
    if (first) place = std::make_unique<reference::Buffers>(*device_, *program.plan, random_);
    const base::Seconds began = base::now();
    evidence.merge(verify::check(*device_, task_.file, program, cases_[i], *place, first));
    const base::Seconds took = base::now() - began;
    if (!device_->facts().simulated && !first) least = least.count() > 0 ? std::min(least, took) : took;
    spent += took;
    if (least.count() > 0 && spent > patience && !evidence.fault && i + 1 < cases_.size()) give_up(least, i, evidence);
  }
  for (std::size_t w = 0; w < job.executable.workloads.size() && job.full_size && !evidence.fault; ++w) {
    if (task::is_module(task_)) break;  // its check size is its own
    const bool simulated = device_->facts().simulated;
    if (simulated && !base::defended(base::Defence::full_size)) break;
    if (simulated) evidence.errors.outputs += output_elements(w);
    if (!small_enough(w)) {  // by the task alone: a variant's own threads excuse nothing
      check_simulated(job.executable, module, w, evidence);
      continue;
    }
    const verify::Program program{&module, &job.executable.workloads[w]};
    reference::Buffers buffers(*device_, *program.plan, random_);
    for (const std::size_t version : {std::size_t{0}, stressed}) {
      if (version == stressed && (stress() == nullptr || reference::operations(task_, w) > stressed_operations)) continue;
      const verify::Case* subject = evidence.fault ? nullptr : full_case(w, version);
      if (subject == nullptr) continue;
      evidence.merge(verify::check(*device_, task_.file, program, *subject, buffers, false));
      if (simulated && version == 0) evidence.errors.verified_outputs += output_elements(w);
    }
  }
}

// A variant whose trials take far longer than the reference's own would only hold the GPU for minutes.
void Session::give_up(base::Seconds took, std::size_t trial, verify::Evidence& evidence) {
  const verify::Program program{reference_module_.module.get(), &reference_.checks[case_sizes_[trial]]};
  if (program.module == nullptr) return;   // a PyTorch module
  reference::Buffers buffers(*device_, *program.plan, random_);
  const base::Seconds began = base::now();
  verify::check(*device_, task_.file, program, cases_[trial], buffers, false);
  const base::Seconds reference = base::now() - began;
  if (took < much_longer * reference) return;
  evidence.fault = Verdict::timeout;
  evidence.message = fmt::format("a trial takes {:.3g} s, and {:.2g} s with the task's own kernel: given up after {} of {} trials", took.count(), reference.count(),
                                 trial + 1, cases_.size());
}

// The last word: the same plan in a module that has run nothing, on values drawn after everything else.
void Session::check_on_fresh_inputs(const Executable& executable, const device::Module& module,
                                    verify::Evidence& evidence) {
  for (std::size_t size = 0; size < task_.checks.size() && !evidence.fault; ++size) {
    const verify::Program reference{reference_module_.module.get(), &reference_.checks[size]};
    const reference::Trial trial{reference::Pattern::declared, random_.next()};
    const auto subject =
        verify::make_case(*device_, task_, task_.checks[size], trial, reference, random_, check_options(size));
    if (!subject) continue;
    reference::Buffers buffers(*device_, executable.checks[size], random_);
    evidence.merge(verify::check(*device_, task_.file, {&module, &executable.checks[size]}, *subject, buffers, true));
  }
}

void Session::check_neighbours(const Executable& executable, const device::Module& module, verify::Evidence& evidence) {
  for (std::size_t i = 0; i < neighbours_.size() && !evidence.fault; ++i) {
    if (reference_.neighbours[i].steps.empty()) continue;
    const verify::Program reference{reference_module_.module.get(), &reference_.neighbours[i]};
    const reference::Trial trial{reference::Pattern::declared, random_.next()};
    const auto subject = verify::make_case(*device_, task_, neighbours_[i], trial, reference, random_, check_options(0));
    if (!subject) continue;
    if (executable.neighbours[i].steps.empty()) {
      evidence.fault = Verdict::invalid_plan;
      evidence.message = fmt::format("it has no plan at {}", neighbours_[i].label());
      return;
    }
    reference::Buffers buffers(*device_, executable.neighbours[i], random_);
    evidence.merge(verify::check(*device_, task_.file, {&module, &executable.neighbours[i]}, *subject, buffers, false));
  }
}

void Session::only_run(const CheckJob& job, const device::Module& module, verify::Evidence& evidence) {
  const std::vector<kernel::Plan>& plans = job.inputs.empty() ? job.executable.checks : job.executable.workloads;
  for (std::size_t i = 0; i < (job.inputs.empty() ? task_.checks.size() : 1) && !evidence.fault; ++i) {
    const auto inputs = job.inputs.empty() ? reference::inputs(task_, task_.checks[i], {reference::Pattern::declared, seed_})
                                           : InputFile::read(job.inputs, plans[i]);
    reference::Buffers buffers(*device_, plans[i], random_);
    buffers.load(inputs);
    buffers.poison(reference::Buffers::Fill::nan);
    const device::RunResult run = device_->run(buffers.bind(module), {});
    evidence.fault = verify::fault(run);
    evidence.message = run.message;
    evidence.findings = run.findings;
    ++evidence.errors.trials;
  }
}

}  // namespace cudal1::judge
