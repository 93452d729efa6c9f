// SPDX-License-Identifier: Apache-2.0
#include "judge/session.hpp"
#include "tensor/dense.hpp"
#include "tensor/dtype.hpp"
#include "verify/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

// The simulator at the declared sizes. It need not execute a whole workload to predict its time, so it looks at what it can
// afford, in places that nobody can know, and says how much that was.
namespace cudal1::judge {

namespace {

using Role = kernel::PlanBuffer::Role;
using Status = device::RunResult::Status;

constexpr std::uint64_t sampled_instructions = 2'000'000;      // warp instructions of blocks that nobody can know
constexpr std::uint64_t whole_instructions = 100'000'000;      // up to which a whole plan is executed
constexpr double least_share = 0.5;                            // of the outputs that their share of the blocks should write

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
        if (!touched[place]) part.expected.truth[k] = part.expected.sigma[k] = 0;
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

// Compares what a run of a share of the blocks left with the truth, as far as it is known. Returns how many elements were written.
double Session::look_at(const reference::Buffers& buffers, const kernel::Plan& plan, std::size_t workload, double share, verify::Evidence& evidence) {
  auto known = simulated_truth_.find(workload);
  if (known == simulated_truth_.end())
    known = simulated_truth_.try_emplace(workload, task_, workload, workload_inputs(workload), precision_, threads_, random_).first;
  double written = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < task_.file.buffers.size() && !evidence.fault; ++i) {
    if (plan.buffers[i].role == Role::input) continue;
    const std::size_t output = next++;
    const reference::Bytes bytes = buffers.read(i);
    const std::size_t count = bytes.size() / tensor::size_of(plan.buffers[i].dtype);
    // Nobody can tell whether an integer was written, or an element that held something before.
    if (!tensor::is_floating(plan.buffers[i].dtype) || plan.buffers[i].role == Role::inout) {
      written += share * static_cast<double>(count);
      continue;
    }
    std::vector<bool> touched(count);
    for (std::size_t k = 0; k < count; ++k) {
      touched[k] = !buffers.untouched(i, bytes, k);
      written += touched[k] ? 1 : 0;
    }
    auto part = known->second.among(output, touched, random_);
    if (!part) continue;
    std::vector<std::int64_t> shape = reference::outputs(task_, task_.workloads[workload])[output].shape;
    if (shape.empty()) shape = {1};
    const Seen seen = seen_of(*part, shape, bytes, touched);
    evidence.errors.verified_outputs += seen.count;
    verify::Comparison comparison = verify::compare(part->expected, seen.got, verify::declared_bounds(task_.file, part->expected.output));
    verify::Evidence one;
    one.errors.relative_l2 = comparison.relative_l2;
    one.errors.max_absolute = comparison.max_absolute;
    if (!comparison.right) {
      verify::name_in_whole(comparison, *part);
      one.fault = outcome::Verdict::wrong_result;
      one.message = fmt::format("{}: {} ({}, in blocks that were drawn)", verify::describe(*comparison.first), comparison.why, task_.workloads[workload].label());
      one.first_wrong = comparison.first;
      one.worst_wrong = comparison.worst;
    }
    evidence.merge(std::move(one));
  }
  return written;
}

void Session::check_simulated(const Executable& executable, const device::Module& module, std::size_t workload, verify::Evidence& evidence) {
  const kernel::Plan& plan = executable.workloads[workload];
  const double elements = output_elements(workload);
  const std::string where = task_.workloads[workload].label();
  reference::Buffers buffers(*device_, plan, random_);
  buffers.load(workload_inputs(workload));
  verify::Evidence seen;
  double written = 0, share = 1;
  // False: nothing can be said, because of a fault or because it is too much to execute.
  const auto run = [&](std::uint64_t sampled) {
    seen = {};
    buffers.restore_inouts();
    buffers.poison(reference::Buffers::Fill::nan);
    const device::RunResult result = device_->run(buffers.bind(module), {false, whole_instructions, sampled});
    share = result.executed_share;
    if (result.status == Status::timeout) return false;
    seen.fault = verify::fault(result);
    if (seen.fault) {
      seen.message = fmt::format("{} ({})", result.message, where);
      seen.findings = result.findings;
      return false;
    }
    written = look_at(buffers, plan, workload, share, seen);
    return true;
  };
  bool executed = run(sampled_instructions);
  if (executed && !seen.fault && share < 1 && written < least_share * share * elements) {
    // The blocks that were drawn do less than their share: others do their work, or nobody does.
    const double drawn = share, theirs = written;
    executed = run(0);
    if (!executed && !seen.fault) {
      seen.fault = outcome::Verdict::unsupported;
      seen.message = fmt::format("{:.2g} of the blocks wrote {:.0f} of {:.0f} outputs, so that some blocks do the work of others, and the whole is too much for "
                                 "the simulator to execute ({})", drawn, theirs, elements, where);
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
  evidence.merge(std::move(seen));
}

}  // namespace cudal1::judge
