// SPDX-License-Identifier: Apache-2.0
#include "verify/case.hpp"

#include "base/defence.hpp"
#include "reference/buffers.hpp"
#include "verify/compare.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::verify {

namespace {

using reference::Expected;
using Role = kernel::PlanBuffer::Role;

double elements(const Expected& expected) {
  double count = 1;
  for (const std::int64_t extent : expected.shape) count *= static_cast<double>(extent);
  return std::max(count, 1.0);
}

// How far a plain evaluation in the output's type may be from the truth: the task's own kernel is held to this.
double plain_noise(const Expected& expected, double length) {
  return 8 * tensor::unit_roundoff(expected.dtype) * (1 + std::sqrt(length));
}

std::string failure(const device::RunResult& result) {
  if (result.findings.empty()) return result.message;
  const outcome::Finding& first = result.findings.front();
  return fmt::format("{}, in {} at line {}, block ({}), thread ({})", first.message.empty() ? result.message : first.message, first.kernel,
                     first.line, fmt::join(first.block, ", "), fmt::join(first.thread, ", "));
}

}  // namespace

std::string Case::label() const {
  const std::string sizes = workload.label();
  return fmt::format("{}{}{}", sizes, sizes.empty() ? "" : ", ", reference::name(trial.pattern));
}

std::string describe(const outcome::WrongElement& element) {
  if (element.index.empty()) return fmt::format("{} is {:.7g}, expected {:.7g}", element.output, element.got, element.expected);
  return fmt::format("{}[{}] is {:.7g}, expected {:.7g}", element.output, fmt::join(element.index, ", "), element.got,
                     element.expected);
}

tl::expected<Case, std::string> make_case(device::Device& device, const task::Task& task, const task::Workload& workload,
                                          const reference::Trial& trial, const Program& program, base::Random& random,
                                          const CaseOptions& options) {
  Case result;
  result.workload = workload;
  result.trial = trial;
  result.inputs = reference::inputs(task, workload, trial);

  const double operations = reference::operations(task, options.assignment);
  if (operations <= reference::affordable_operations) {
    const auto perturb = options.perturb ? std::optional(options.precision) : std::nullopt;
    if (auto truth = reference::oracle(task, workload, result.inputs, perturb, options.threads)) {
      result.expected = *std::move(truth);
      result.oracle = true;
    }
  }
  if (!result.oracle) result.expected = reference::outputs(task, workload);

  reference::Buffers buffers(device, *program.plan, random);
  buffers.load(result.inputs);
  buffers.poison(reference::Buffers::Fill::nan);
  const device::RunResult run = device.run(buffers.bind(*program.module), {options.checks, 0});
  if (run.status != device::RunResult::Status::ok) return tl::unexpected(failure(run));

  std::size_t next = 0;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    if (program.plan->buffers[i].role == Role::input) continue;
    Expected& expected = result.expected[next++];
    std::vector<double> got = reference::decode(expected.dtype, buffers.read(i));
    // A sum that many outputs share (a softmax's) hides in the operations of each, but not in the shapes.
    expected.operations = std::max(1.0, operations / elements(expected));
    const double length = std::max(expected.operations, reference::reduction_length(task, workload));
    if (!result.oracle) {
      if (!std::all_of(got.begin(), got.end(), [](double value) { return std::isfinite(value); }))
        return tl::unexpected(fmt::format("{} is not finite", expected.output));
      expected.relative_noise = options.noise > 0 ? options.noise : plain_noise(expected, length);
      if (options.precision != outcome::Precision::fp32 && expected.dtype == tensor::Dtype::float32)
        expected.relative_noise = std::max(expected.relative_noise, outcome::operand_roundoff(options.precision));
      expected.truth = std::move(got);
      continue;
    }
    expected.relative_noise = plain_noise(expected, length);
    const Comparison comparison = compare(expected, got, declared_bounds(task.file, expected.output));
    expected.relative_noise = 0;
    if (!comparison.right)
      return tl::unexpected(fmt::format("{}: {}", describe(*comparison.first), comparison.why));
    // Twelve bits tell exact products from rounded ones; where the reference itself rounds (a softmax), they tell nothing.
    if (trial.pattern == reference::Pattern::wide_integers && got != expected.truth)
      return tl::unexpected(fmt::format("{} is not exact", expected.output));
    expected.reference = std::move(got);
  }
  if (const std::string damage = buffers.damage(); !damage.empty()) return tl::unexpected(damage);
  if (base::defended(base::Defence::check_poison))
    buffers.poison(reference::Buffers::Fill::nan);  // a right answer must not lie in memory that is handed out again
  return result;
}

}  // namespace cudal1::verify
