// SPDX-License-Identifier: Apache-2.0
#include "verify/check.hpp"

#include "base/defence.hpp"
#include "kernel/checker.hpp"
#include "verify/checker.hpp"
#include "verify/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::verify {

namespace {

using outcome::Verdict;
using reference::Buffers;
using Role = kernel::PlanBuffer::Role;

// The elements that still hold the poison: said before any number is compared, because it explains the numbers.
std::optional<std::string> unwritten(const Buffers& buffers, std::size_t buffer, const kernel::PlanBuffer& output,
                                     const reference::Bytes& bytes) {
  if (!tensor::is_floating(output.dtype)) return std::nullopt;
  const std::size_t count = bytes.size() / tensor::size_of(output.dtype);
  std::size_t missing = 0;
  for (std::size_t i = 0; i < count; ++i) missing += buffers.untouched(buffer, bytes, i) ? 1 : 0;
  if (missing == 0) return std::nullopt;
  return fmt::format("{} of {} elements of {} were never written", missing, count, output.name);
}

// Exactly, where y64 is known of an output that is too dear to know all of.
Comparison compare_part(const reference::Part& part, const reference::Expected& whole, const std::vector<double>& got,
                        const std::optional<Bounds>& declared) {
  Comparison comparison = compare(part.expected, reference::at(part, whole.shape, got), declared);
  name_in_whole(comparison, part);
  return comparison;
}

// With sigma from enough runs: few of them may disturb two numbers alike whose difference counts.
Comparison compare_settled(const Case& subject, std::size_t output, const std::vector<double>& got, const std::optional<Bounds>& declared) {
  reference::Expected settled = subject.settle().at(output);   // of the task and the trial that gave `expected`: there are as many
  settled.reference = subject.expected[output].reference;
  settled.kernelbench = subject.expected[output].kernelbench;
  return compare(settled, got, declared);
}

}  // namespace

void Evidence::merge(Evidence other) {
  errors.relative_l2 = std::max(errors.relative_l2, other.errors.relative_l2);
  errors.max_absolute = std::max(errors.max_absolute, other.errors.max_absolute);
  errors.reference_relative_l2 = std::max(errors.reference_relative_l2, other.errors.reference_relative_l2);
  errors.kernelbench_tolerance = std::max(errors.kernelbench_tolerance, other.errors.kernelbench_tolerance);
  errors.trials += other.errors.trials;
  errors.outputs += other.errors.outputs;
  errors.verified_outputs += other.errors.verified_outputs;
  if (printed.empty()) printed = std::move(other.printed);
  if (fault || !other.fault) return;
  fault = other.fault;
  message = std::move(other.message);
  findings = std::move(other.findings);
  first_wrong = std::move(other.first_wrong);
  worst_wrong = std::move(other.worst_wrong);
}

std::optional<Verdict> fault(const device::RunResult& result) {
  using Status = device::RunResult::Status;
  switch (result.status) {
    case Status::ok: return std::nullopt;
    case Status::unsupported: return Verdict::unsupported;
    case Status::runtime_failed: return Verdict::runtime_failed;
    case Status::timeout: return Verdict::timeout;
    case Status::findings: return Verdict::sanitizer_failed;
    case Status::stateful: return Verdict::stateful;
    case Status::tampered: return Verdict::tampered;
  }
  return std::nullopt;
}

Evidence compare_outputs(const kernel::File& task, const Buffers& buffers, const kernel::Plan& plan,
                         const Case& subject) {
  Evidence evidence;
  evidence.errors.trials = 1;
  if (const auto checker = kernel::checker(task)) {
    if (auto why = ask(*checker, task, subject.workload, subject.inputs, buffers); !why.empty()) {
      evidence.fault = Verdict::wrong_result;
      evidence.message = fmt::format("{} ({})", why, subject.label());
    }
    return evidence;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < task.buffers.size(); ++i) {
    if (plan.buffers[i].role == Role::input) continue;
    const std::size_t output = next++;
    const reference::Expected& expected = subject.expected[output];
    const reference::Bytes bytes = buffers.read(i);
    const std::vector<double> got = reference::decode(expected.dtype, bytes);
    const auto declared = declared_bounds(task, expected.output);
    Comparison comparison = compare(expected, got, declared);
    if (!comparison.right && expected.few_runs && subject.settle) comparison = compare_settled(subject, output, got, declared);
    if (comparison.right && output < subject.parts.size() && subject.parts[output])
      comparison = compare_part(*subject.parts[output], expected, got, declared);
    Evidence one;
    one.errors = {comparison.relative_l2, comparison.max_absolute, comparison.reference_relative_l2, 0,
                  comparison.kernelbench_tolerance};
    if (!comparison.right) {
      one.fault = Verdict::wrong_result;
      const auto missing = unwritten(buffers, i, plan.buffers[i], bytes);
      one.message = fmt::format("{}: {} ({})", describe(*comparison.first), missing ? *missing : comparison.why,
                                subject.label());
      one.first_wrong = comparison.first;
      one.worst_wrong = comparison.worst;
    }
    evidence.merge(std::move(one));
  }
  return evidence;
}

Evidence check(device::Device& device, const kernel::File& task, const Program& program, const Case& subject,
               Buffers& buffers, bool twice) {
  Evidence evidence;
  buffers.load(subject.inputs);
  for (const auto fill : {Buffers::Fill::nan, Buffers::Fill::finite}) {
    if (fill == Buffers::Fill::finite) {
      if (!twice || !base::defended(base::Defence::finite_fill)) break;
      buffers.restore_inouts();
    }
    if (base::defended(base::Defence::check_poison)) buffers.poison(fill);
    const device::RunResult run = device.run(buffers.bind(*program.module), {true, 0});
    Evidence one;
    if (const auto failed = fault(run)) {
      one.fault = failed;
      one.message = fmt::format("{} ({})", run.message, subject.label());
      one.findings = run.findings;
    } else {
      one = compare_outputs(task, buffers, *program.plan, subject);
      if (const std::string damage = buffers.damage(); !damage.empty()) {
        one.fault = Verdict::tampered;
        one.message = fmt::format("{} ({})", damage, subject.label());
      }
    }
    one.printed = run.printed;
    evidence.merge(std::move(one));
    if (evidence.fault) break;
  }
  evidence.errors.trials = 1;
  return evidence;
}

}  // namespace cudal1::verify
