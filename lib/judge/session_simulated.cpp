// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "judge/session.hpp"
#include "task/module.hpp"
#include "tensor/dense.hpp"
#include "tensor/dtype.hpp"
#include "verify/compare.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

// The simulator at the declared sizes. It need not execute a whole workload to predict its time, so it looks at what it can
// afford, in places that nobody can know, and says how much that was.
namespace cudal1::judge {

namespace {

using Role = kernel::PlanBuffer::Role;
using Status = device::RunResult::Status;

constexpr std::uint64_t sampled_instructions = 2'000'000;      // warp instructions of blocks that nobody can know, at least
constexpr std::uint64_t drawn_instructions = 200'000'000;      // up to half of which are spent until those blocks tell enough
constexpr std::uint64_t whole_instructions = 100'000'000;      // up to which a whole plan is executed
constexpr double least_covered = 0.99, doubt = 4;              // of the outputs, and how many times the estimate's error beside it
constexpr double hidden_work = 3;                              // times what the drawn blocks showed
constexpr double stress_leniency = 4096;                       // sigma is known of few elements, which stray ones elsewhere are unlike

// What was written of a part of an output. An element that was not says nothing: there, it is right.
struct Seen {
  std::vector<double> got;
  double count = 0;
};

Seen seen_of(reference::Part& part, const std::vector<std::int64_t>& shape, const reference::Bytes& bytes, const std::vector<bool>& touched) {
  const tensor::Around around(shape, part.axis);
  const std::size_t size = tensor::size_of(part.expected.dtype);
  Seen seen;
  seen.got.reserve(part.expected.truth.size());
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    for (const std::int64_t index : part.indices)
      for (std::int64_t inner = 0; inner < around.inner; ++inner) {
        const auto place = static_cast<std::size_t>((outer * around.length + index) * around.inner + inner);
        const std::size_t k = seen.got.size();
        if (!touched[place]) part.expected.truth[k] = 0;
        if (!touched[place] && k < part.expected.sigma.size()) part.expected.sigma[k] = 0;
        seen.got.push_back(touched[place] ? tensor::load(part.expected.dtype, bytes.data() + place * size) : 0);
        seen.count += touched[place] ? 1 : 0;
      }
  return seen;
}

}  // namespace

double Session::output_elements(std::size_t workload) const {
  double all = 0;
  for (const reference::Expected& expected : reference::outputs(task_, task_.workloads[workload])) {
    double count = 1;
    for (const std::int64_t extent : expected.shape) count *= static_cast<double>(extent);
    all += count;
  }
  return all;
}

// What is right where an output was `touched`, of the inputs that this device predicts a workload with.
std::optional<reference::Part> Session::simulated_part(std::size_t workload, std::size_t version, std::size_t output, const std::vector<bool>& touched) {
  const verify::Case* whole = task::is_module(task_) ? &predicted_case() : small_enough(workload) ? full_case(workload, version) : nullptr;
  if (whole != nullptr) {
    reference::Part part{0, {}, whole->expected.at(output)};
    if (part.expected.truth.empty() || part.expected.choice) return std::nullopt;
    if (part.expected.shape.empty()) part.expected.shape = {1};
    part.expected.sigma.resize(part.expected.truth.size());
    for (std::int64_t k = 0; k < part.expected.shape.front(); ++k) part.indices.push_back(k);
    return part;
  }
  auto known = simulated_truth_.find({workload, version});
  if (known == simulated_truth_.end())
    known = simulated_truth_.try_emplace({workload, version}, task_, workload, workload_inputs(workload, version), precision_, threads_, random_).first;
  return known->second.among(output, touched, random_);
}

// Compares what a run of a share of the blocks left with the truth, as far as it is known. Returns how many elements were written.
double Session::look_at(const reference::Buffers& buffers, const kernel::Plan& plan, const Left& left, verify::Evidence& evidence) {
  const std::size_t workload = left.workload;
  double written = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < task_.file.buffers.size() && !evidence.fault; ++i) {
    if (plan.buffers[i].role == Role::input) continue;
    const std::size_t output = next++;
    const reference::Bytes bytes = buffers.read(i);
    const std::size_t count = bytes.size() / tensor::size_of(plan.buffers[i].dtype);
    const std::vector<bool> stored = left.noted ? buffers.written(i) : std::vector<bool>();
    const bool noted = stored.size() == bytes.size();
    // Else nobody can tell whether a short integer was written; of an element that held something before, whether it changed.
    const bool before = plan.buffers[i].role == Role::inout;
    if (!noted && !before && !tensor::is_floating(plan.buffers[i].dtype) && tensor::size_of(plan.buffers[i].dtype) < 4) {
      written += left.share * static_cast<double>(count);
      continue;
    }
    const reference::Bytes& held = workload_inputs(workload, left.version)[i];
    const std::size_t size = tensor::size_of(plan.buffers[i].dtype);
    std::vector<bool> touched(count);
    for (std::size_t k = 0; k < count; ++k) {
      // What all blocks together leave as it was must be right as it was.
      touched[k] = noted ? stored[k * size] || (before && left.share >= 1)
                   : before ? std::memcmp(bytes.data() + k * size, held.data() + k * size, size) != 0 : !buffers.untouched(i, bytes, k);
      written += touched[k] ? 1 : 0;
    }
    auto part = simulated_part(workload, left.version, output, touched);
    if (!part) continue;
    std::vector<std::int64_t> shape = reference::outputs(task_, task_.workloads[workload])[output].shape;
    if (shape.empty()) shape = {1};
    const Seen seen = seen_of(*part, shape, bytes, touched);
    evidence.errors.verified_outputs += seen.count;
    verify::Comparison comparison = verify::compare(part->expected, seen.got, verify::declared_bounds(task_.file, part->expected.output), left.leniency);
    verify::Evidence one;
    one.errors.relative_l2 = comparison.relative_l2;
    one.errors.max_absolute = comparison.max_absolute;
    if (!comparison.right) {
      verify::name_in_whole(comparison, *part);
      one.fault = outcome::Verdict::wrong_result;
      one.message = fmt::format("{}: {} ({}{}, in blocks that were drawn)", verify::describe(*comparison.first), comparison.why, task_.workloads[workload].label(),
                                left.version == stressed ? fmt::format(", {}", reference::name(reference::Pattern::mixed)) : "");
      one.first_wrong = comparison.first;
      one.worst_wrong = comparison.worst;
    }
    evidence.merge(std::move(one));
  }
  return written;
}

void Session::note_executed(const Executable& executable, std::size_t workload, double instructions) {
  executed_[{std::hash<std::string>{}(executable.binary.ptx), workload}] = instructions;
}

// What the run that predicts a time left must be right, too: it might know which run it is. And it must have met the work.
void Session::check_predicted(const Executable& executable, const reference::Buffers& buffers, std::size_t workload, const device::Prediction& prediction,
                              verify::Evidence& evidence) {
  if (!base::defended(base::Defence::full_size)) return;
  if (prediction.comparable) look_at(buffers, executable.workloads[workload], {workload}, evidence);
  const auto known = executed_.find({std::hash<std::string>{}(executable.binary.ptx), workload});
  if (evidence.fault || known == executed_.end()) return;
  constexpr double trifle = 1e5;
  const double predicted = prediction.counters.warp_instructions;
  if (known->second <= hidden_work * predicted + trifle) return;
  evidence.fault = outcome::Verdict::unsupported;
  evidence.message = fmt::format("it executed {:.3g} warp instructions or more, and the blocks that are drawn to predict its time show {:.3g} in all: few blocks do most "
                                 "of the work, so that the simulator cannot predict its time", known->second, predicted);
}

void Session::check_simulated(const Executable& executable, const device::Module& module, std::size_t workload, verify::Evidence& evidence) {
  const kernel::Plan& plan = executable.workloads[workload];
  const double elements = output_elements(workload);
  const std::string where = task_.workloads[workload].label();
  reference::Buffers buffers(*device_, plan, random_);
  buffers.load(workload_inputs(workload));
  verify::Evidence seen;
  double written = 0, share = 1, covered = 1, error = 0, whole = 0;  // warp instructions of all blocks, about
  // False: nothing can be said, because of a fault or because it is too much to execute.
  const auto run = [&](std::uint64_t sampled) {
    seen = {};
    buffers.restore_inouts();
    buffers.poison(reference::Buffers::Fill::nan);
    const device::RunResult result = device_->run(buffers.bind(module), {false, sampled > 0 ? drawn_instructions : whole_instructions, sampled, true});
    share = result.executed_share;
    covered = result.covered;
    error = result.covered_error;
    whole = result.warp_instructions;
    if (share >= 1) note_executed(executable, workload, result.counters.warp_instructions);
    if (result.status == Status::timeout) return false;
    seen.fault = verify::fault(result);
    if (seen.fault) {
      seen.message = fmt::format("{} ({})", result.message, where);
      seen.findings = result.findings;
      return false;
    }
    written = look_at(buffers, plan, {workload, 0, share, true}, seen);
    return true;
  };
  bool executed = run(sampled_instructions);
  if (executed && !seen.fault && share < 1 && covered < least_covered && covered + doubt * error < 1) {
    // The blocks that were drawn do less than their share: others do their work, or nobody does.
    const double drawn = share, theirs = covered;
    executed = whole < 2 * whole_instructions && run(0);
    if (!executed && !seen.fault) {
      seen.fault = outcome::Verdict::unsupported;
      seen.message = fmt::format("after {:.2g} % of its blocks, which were drawn, it seems to write {:.0f} % of the outputs: outputs are left out, or few blocks do the work of "
                                 "others; the whole is too much for the simulator to execute ({})", 100 * drawn, 100 * theirs, where);
    }
  }
  if (executed && !seen.fault && share >= 1 && written < elements) {
    seen.fault = outcome::Verdict::wrong_result;
    seen.message = fmt::format("{:.0f} of {:.0f} outputs were never written ({})", elements - written, elements, where);
  }
  if (const std::string damage = buffers.damage(); executed && !seen.fault && !damage.empty()) {
    seen.fault = outcome::Verdict::tampered;
    seen.message = fmt::format("{} ({})", damage, where);
  }
  const bool go_on = executed && !seen.fault;
  evidence.merge(std::move(seen));
  if (go_on) check_stressed(executable, module, workload, evidence);
}

void Session::check_stressed(const Executable& executable, const device::Module& module, std::size_t workload, verify::Evidence& evidence) {
  if (stress() == nullptr) return;
  const kernel::Plan& plan = executable.workloads[workload];
  reference::Buffers buffers(*device_, plan, random_);
  buffers.load(workload_inputs(workload, stressed));
  buffers.poison(reference::Buffers::Fill::nan);
  const device::RunResult result = device_->run(buffers.bind(module), {false, whole_instructions, sampled_instructions / 2, true});
  verify::Evidence seen;
  seen.fault = result.status == Status::timeout ? std::nullopt : verify::fault(result);
  if (seen.fault) {
    seen.message = fmt::format("{} ({}, {})", result.message, task_.workloads[workload].label(), reference::name(reference::Pattern::mixed));
    seen.findings = result.findings;
  } else if (result.status == Status::ok) {
    look_at(buffers, plan, {workload, stressed, result.executed_share, true, stress_leniency}, seen);
    seen.errors.verified_outputs = 0;   // counted already
  }
  evidence.merge(std::move(seen));
}

}  // namespace cudal1::judge
