// SPDX-License-Identifier: Apache-2.0
// A session's times: predicted, measured, counted.
#include "judge/session.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "judge/input_file.hpp"
#include "verify/task_gate.hpp"

#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

constexpr std::size_t input_versions = 3;     // of different values, at full size
constexpr std::size_t many_versions = 8;      // where the truth of each costs little: more than a kernel could keep answers to
constexpr double cheap_operations = 2e6;

}  // namespace

// What the task shows at full size only: an output that vanishes, or that other inputs hardly move.
std::vector<outcome::TaskFinding> Session::task_findings(const std::vector<const verify::Case*>& cases) const {
  verify::TaskFigures figures;
  if (cases.size() < 2 || !base::defended(base::Defence::task_gate)) return {};
  for (std::size_t i = 0; i < cases[0]->expected.size(); ++i) {
    const reference::Expected& first = cases[0]->expected[i];
    figures.outputs.push_back(verify::figures(first.output, first.truth, cases[1]->expected[i].truth,
                                              verify::bounds_of(task_.file, first.output, first.dtype, first.truth)));
  }
  return verify::examine(figures);
}

PredictReply Session::predict(const PredictJob& job) {
  PredictReply reply;
  const Executable& executable = job.executable ? *job.executable : reference_;
  Loaded own;
  const device::Module* module = reference_module_.module.get();
  if (job.executable) {
    own = load(executable.binary);
    if (own.failure) {
      reply.fault = verify::fault(*own.failure);
      reply.message = own.failure->message;
      return reply;
    }
    module = own.module.get();
  }
  reference::Buffers buffers(*device_, executable.workloads[job.workload], random_);
  buffers.load(workload_inputs(job.workload));
  buffers.poison(reference::Buffers::Fill::nan);
  auto prediction = device_->predict(buffers.bind(*module));
  if (!prediction) throw base::Error(base::Fault::internal, "this device measures; it does not predict");
  if (*prediction) {
    verify::Evidence evidence;
    if (job.executable) check_predicted(executable, buffers, job.workload, **prediction, evidence);
    reply.prediction = **std::move(prediction);
    if (evidence.fault) {
      reply.prediction.reset();
      reply.fault = evidence.fault;
      reply.message = evidence.message + ", in the run that predicts its time";
    }
    return reply;
  }
  const device::RunResult& failure = prediction->error();
  reply.fault = verify::fault(failure).value_or(outcome::Verdict::runtime_failed);
  reply.message = failure.message;
  reply.findings = failure.findings;
  return reply;
}

TimeReply Session::time(const TimeJob& job) {
  if (lent_) return time_lent(job);
  TimeReply reply;
  reply.tick_ms = device_->tick_ms();
  // Where code lies changes its time as where data lies does, so all arms are loaded anew, in random order.
  std::vector<const outcome::Binary*> binaries{&reference_.binary};
  for (const Executable& executable : job.executables) binaries.push_back(&executable.binary);
  std::vector<Loaded> modules(binaries.size());
  for (const std::size_t arm : shuffled(binaries.size(), random_)) {
    modules[arm] = load(*binaries[arm]);
    if (!modules[arm].failure) continue;
    reply.evidence.fault = verify::fault(*modules[arm].failure);
    reply.evidence.message = modules[arm].failure->message;
    return reply;
  }
  std::vector<verify::Program> variants;
  for (std::size_t i = 0; i < job.executables.size(); ++i)
    variants.push_back({modules[i + 1].module.get(), &job.executables[i].workloads[job.workload]});
  auto& timed = timed_[job.workload];
  if (!timed) {
    std::vector<const verify::Case*> cases;
    const double operations = reference::operations(task_, job.workload);
    const std::size_t versions = !base::defended(base::Defence::fresh_values) ? 1 : operations > 0 && operations <= cheap_operations ? many_versions : input_versions;
    for (std::size_t version = 0; version < versions; ++version)
      if (const verify::Case* subject = full_case(job.workload, version)) cases.push_back(subject);
    if (cases.empty())
      throw base::Error(base::Fault::bad_task,
                        fmt::format("{}: the task's own kernel is not right at {}: {}", task_.file.name,
                                    task_.workloads[job.workload].label(), full_case_problem_));
    timed = std::make_unique<TimedReference>(
        *device_, verify::Program{reference_module_.module.get(), &reference_.workloads[job.workload]}, cases, random_);
    reply.findings = task_findings(cases);
  } else if (job.fresh) {
    timed->lay_out(*device_, random_);
  }
  if (job.order.empty()) return reply;   // everything is ready now
  try {
    TimedArms arms(*device_, task_.file, *timed, *modules.front().module, std::move(variants), random_);
    reply.samples = arms.run(job.order, job.cold, job.seed);
    reply.evidence = arms.evidence();
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::no_memory) throw;
    reply.evidence = failed(error.what());
  }
  return reply;
}

CountReply Session::count(const CountJob& job) {
  CountReply reply;
  const Loaded variant = load(job.executable.binary);
  if (variant.failure) {
    reply.counted.problem = variant.failure->message;
    return reply;
  }
  reference::Buffers buffers(*device_, job.executable.workloads[job.workload], random_);
  const auto given = job.inputs.empty() ? std::vector<reference::Bytes>{} : InputFile::read(job.inputs, job.executable.workloads[job.workload]);
  buffers.load(job.inputs.empty() ? workload_inputs(job.workload) : given);
  reply.counted = device_->read_counters(buffers.bind(*variant.module), [&] {
    buffers.poison(reference::Buffers::Fill::nan);
    buffers.restore_inouts();
  });
  return reply;
}

EnergyReply Session::energy(const EnergyJob& job) {
  const Loaded variant = load(job.executable.binary);
  if (variant.failure) return {};
  reference::Buffers buffers(*device_, job.executable.workloads[job.workload], random_);
  buffers.load(workload_inputs(job.workload));
  buffers.poison(reference::Buffers::Fill::nan);
  return {device_->energy_mj(buffers.bind(*variant.module), [&] { buffers.restore_inouts(); }, base::Seconds{job.seconds})};
}

}  // namespace cudal1::judge
