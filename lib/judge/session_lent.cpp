// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "judge/input_file.hpp"
#include "judge/session.hpp"

// A PyTorch module's inputs and outputs: PyTorch fills and reads the device's memory that is lent to it.
namespace cudal1::judge {

LendReply Session::lend() {
  timed_.clear();
  lent_.reset();
  lent_ = std::make_unique<LentSets>(*device_, reference_.workloads.front(), random_);
  return {lent_->places()};
}

RunReply Session::seal(const SealJob& job) {
  lent_->seal(job.set);
  timed_.clear();   // its copies
  return {};
}

RunReply Session::spill(const SpillJob& job) {
  const kernel::Plan& plan = reference_.workloads.front();
  std::vector<reference::Bytes> inputs(plan.buffers.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (plan.buffers[i].role == kernel::PlanBuffer::Role::input) inputs[i] = lent_->set(job.set).read(i);
  InputFile::write(job.path, inputs);
  return {};
}

RunReply Session::run(const RunJob& job) {
  RunReply reply;
  if (job.load) last_run_ = load(job.executable.binary);
  if (last_run_.failure) {
    reply.evidence.fault = verify::fault(*last_run_.failure);
    reply.evidence.message = last_run_.failure->message;
    return reply;
  }
  try {
    reference::Buffers buffers(*device_, job.executable.workloads.front(), random_, lent_->set(job.set));
    buffers.poison(job.finite ? reference::Buffers::Fill::finite : reference::Buffers::Fill::nan);
    const device::BoundPlan bound = buffers.bind(*last_run_.module);
    const device::RunResult run = device_->run(bound, {});
    reply.evidence.fault = verify::fault(run);
    reply.evidence.message = run.message;
    reply.evidence.findings = run.findings;
    reply.evidence.errors.trials = 1;
    if (reply.evidence.fault) return reply;
    if (const std::string damage = buffers.damage(); !damage.empty()) {
      reply.evidence.fault = outcome::Verdict::tampered;
      reply.evidence.message = damage;
    }
    reply.digest = output_digest(*device_, bound);
    lent_->publish(job.set);
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::no_memory) throw;
    reply.evidence = failed(error.what());
  }
  return reply;
}

TimeReply Session::time_lent(const TimeJob& job) {
  TimeReply reply;
  reply.tick_ms = device_->tick_ms();
  std::vector<Loaded> modules(job.executables.size());
  std::vector<verify::Program> variants(job.executables.size());
  for (const std::size_t arm : shuffled(modules.size(), random_)) {
    modules[arm] = load(job.executables[arm].binary);
    variants[arm] = {modules[arm].module.get(), &job.executables[arm].workloads.front()};
    if (!modules[arm].failure) continue;
    reply.evidence.fault = verify::fault(*modules[arm].failure);
    reply.evidence.message = modules[arm].failure->message;
    return reply;
  }
  try {
    auto& timed = timed_[0];
    if (!timed) timed = std::make_unique<TimedReference>(*device_, reference_.workloads.front(), *lent_, random_);
    else if (job.fresh) timed->lay_out(*device_, random_);
    timed->right = job.right;
    timed->right.resize(lent_->count());
    TimedArms arms(*device_, task_.file, *timed, *modules.front().module, std::move(variants), random_);
    reply.samples = arms.run(job.order, job.cold, job.seed, job.sparing);
    reply.evidence = arms.evidence();
    reply.unknown = arms.unknown();
  } catch (const base::Error& error) {
    if (error.fault() == base::Fault::no_memory) throw;
    reply.evidence = failed(error.what());
  }
  return reply;
}

}  // namespace cudal1::judge
