// SPDX-License-Identifier: Apache-2.0
#include "verify/case.hpp"

#include "base/defence.hpp"
#include "reference/buffers.hpp"
#include "kernel/checker.hpp"
#include "reference/expectations.hpp"
#include "verify/checker.hpp"
#include "verify/compare.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

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

// The error that sums of a length explain, relative, for outputs of a task without a torch line.
double plain_sigma(const Expected& expected, double length, outcome::Precision precision) {
  constexpr double longest = 65536;   // nobody adds up more in one accumulator
  const double unit = tensor::unit_roundoff(expected.dtype) * (1 + std::sqrt(std::min(length, longest)));
  return expected.dtype == tensor::Dtype::float32 ? std::max(unit, outcome::operand_roundoff(precision)) : unit;
}

// Sigma relative to the element and to the root mean square of its row, because terms may cancel in one element.
void take_relative_sigma(Expected& expected, double relative) {
  const std::size_t row = expected.shape.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(expected.shape.back()));
  expected.sigma.assign(expected.truth.size(), 0);
  for (std::size_t from = 0; from < expected.truth.size(); from += row) {
    double squares = 0;
    for (std::size_t i = from; i < from + row; ++i) squares += std::isfinite(expected.truth[i]) ? expected.truth[i] * expected.truth[i] : 0;
    const double size = std::sqrt(squares / static_cast<double>(row));
    for (std::size_t i = from; i < from + row; ++i) expected.sigma[i] = relative * std::max(size, std::fabs(expected.truth[i]));
  }
}

// The task's own kernel is what its author holds for right: it is refused for faults, not for want of care.
constexpr double own_leniency = 16;

std::string failure(const device::RunResult& result) {
  if (result.findings.empty()) return result.message;
  const outcome::Finding& first = result.findings.front();
  return fmt::format("{}, in {} at line {}, block ({}), thread ({})", first.message.empty() ? result.message : first.message, first.kernel,
                     first.line, fmt::join(first.block, ", "), fmt::join(first.thread, ", "));
}

// y64 and sigma of all outputs. Empty: there is no oracle.
std::optional<std::vector<Expected>> whole_truth(const task::Task& task, const task::Workload& workload, const std::vector<reference::Bytes>& inputs,
                                                 const reference::Soundness& soundness, const CaseOptions& options) {
  auto truth = options.full_size ? reference::oracle_in_pieces(task, workload, inputs, soundness, options.threads) : std::nullopt;
  if (!truth) truth = reference::oracle(task, workload, inputs, soundness, options.threads);
  if (truth)
    for (Expected& expected : *truth) expected.few_runs = expected.sampled && soundness.runs < reference::enough_runs;
  return truth;
}

// y64 and sigma of a case, as far as they are affordable: of all outputs, or of parts.
void take_truth(Case& result, const task::Task& task, double operations, base::Random& random, const CaseOptions& options) {
  constexpr double whole_limit = 2.4e8;   // operations above which sigma at full size is taken of parts
  constexpr double many_limit = 5e8;      // operations of y64 and of all runs, above which there are fewer runs
  constexpr int few_runs = 4;
  constexpr std::size_t part_indices = 8;
  reference::Soundness soundness{options.precision, 16, random.next()};
  const bool whole = operations <= reference::affordable_operations;
  if (!task.torch) return;
  if (options.full_size ? operations <= whole_limit : whole) {
    const reference::Soundness enough = soundness;
    if (options.full_size) soundness.runs = std::clamp(static_cast<int>(many_limit / std::max(1.0, operations)) - 1, few_runs, soundness.runs);
    if (auto truth = whole_truth(task, result.workload, result.inputs, soundness, options)) result.expected = *std::move(truth);
    result.oracle = !result.expected.empty();
    if (std::none_of(result.expected.begin(), result.expected.end(), [](const Expected& each) { return each.few_runs; })) return;
    const auto settled = std::make_shared<std::optional<std::vector<Expected>>>();
    result.settle = [settled, &task, workload = result.workload, trial = result.trial, enough, options]() -> const std::vector<Expected>& {
      if (!*settled) *settled = whole_truth(task, workload, reference::inputs(task, workload, trial), enough, options);
      return settled->value();
    };
    return;
  }
  if (!options.full_size) return;
  const auto inputs = reference::input_arrays(task, result.workload, result.inputs);
  bool all = true;
  for (const Expected& expected : reference::outputs(task, result.workload)) {
    result.parts.push_back(reference::part_oracle(task, result.workload, options.assignment, inputs, expected.output, part_indices,
                                                  reference::affordable_operations, soundness, random, options.threads));
    all = all && result.parts.back().has_value();
  }
  if (!whole) return;
  // All of y64 is affordable once, and sigma in parts; or sigma of all of it from few runs.
  soundness.runs = few_runs;
  auto truth = reference::oracle(task, result.workload, result.inputs, all ? std::nullopt : std::optional(soundness), options.threads);
  if (!truth) return;
  result.expected = *std::move(truth);
  result.oracle = true;
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    Expected& expected = result.expected[i];
    expected.few_runs = !all && expected.sampled;
    if (!all) continue;
    expected.sigma = reference::spread(*result.parts[i], expected.shape, expected.truth);
    expected.sampled = true;
  }
  result.parts.clear();
}

// The reference's own output as the truth of what lies outside a part, once the part of it is right. Both it and a variant
// may be off by sigma.
std::string stands_in(const reference::Part& part, Expected& expected) {
  const Comparison comparison = compare(part.expected, reference::at(part, expected.shape, expected.truth), std::nullopt, own_leniency);
  if (!comparison.right) return fmt::format("{}: {}", describe(*comparison.first), comparison.why);
  constexpr double both = 1.5;
  expected.sigma = reference::spread(part, expected.shape, expected.truth);
  for (double& sigma : expected.sigma) sigma *= both;
  expected.sampled = true;
  return "";
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
  take_truth(result, task, operations, random, options);
  if (!result.oracle) result.expected = reference::outputs(task, workload);
  // What was recorded holds for the inputs as declared.
  const bool recorded = !result.oracle && trial.pattern == reference::Pattern::declared;
  if (recorded) reference::read_expectations(task, result.expected);

  reference::Buffers buffers(device, *program.plan, random);
  buffers.load(result.inputs);
  buffers.poison(reference::Buffers::Fill::nan);
  const device::RunResult run = device.run(buffers.bind(*program.module), {options.checks, 0});
  if (run.status != device::RunResult::Status::ok) return tl::unexpected(failure(run));

  CaseOptions::Shadows shadows;
  if (!result.oracle && options.shadows) shadows = options.shadows(workload, *program.plan, result.inputs);
  if (const auto checker = kernel::checker(task.file))
    if (auto why = ask(*checker, task.file, workload, result.inputs, buffers); !why.empty()) return tl::unexpected(std::move(why));

  std::size_t next = 0;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    if (program.plan->buffers[i].role == Role::input) continue;
    Expected& expected = result.expected[next++];
    std::vector<double> got = reference::decode(expected.dtype, buffers.read(i));
    // A sum that many outputs share (a softmax's) hides in the operations of each, but not in the shapes.
    result.operations = std::max(result.operations, operations / elements(expected));
    const double length = std::max(result.operations, reference::reduction_length(task, workload));
    if (!result.oracle) {
      const bool known = recorded && !expected.truth.empty();
      if (!known && !std::all_of(got.begin(), got.end(), [](double value) { return std::isfinite(value); }))
        return tl::unexpected(fmt::format("{} is not finite: give inputs values that the kernel can take, as in //@ input x: float32[N] ~ uniform(0.1, 1)", expected.output));
      const std::size_t index = next - 1;
      if (!known && shadows && tensor::is_floating(expected.dtype)) {
        // Shadows that the kernel itself is far from are beside the point: it does something to the bits of its numbers. Of doubles they
        // are no more exact than the kernel, which must be right by them as any other.
        const double leniency = expected.dtype == tensor::Dtype::float64 ? 1 : own_leniency;
        if (!(*shadows)[index].truth.empty() && compare((*shadows)[index], got, declared_bounds(task.file, expected.output), leniency).right) {
          expected = std::move((*shadows)[index]);
          expected.reference = std::move(got);
          result.shadowed = true;
          result.operations = length;
          continue;
        }
        ++result.refuted;
      }
      if (!known) expected.truth = got;
      if (!known && index < result.parts.size() && result.parts[index]) {
        if (auto why = stands_in(*result.parts[index], expected); !why.empty()) return tl::unexpected(why);
        continue;
      }
      const double relative = options.relative_sigma > 0 ? options.relative_sigma : plain_sigma(expected, length, options.precision);
      take_relative_sigma(expected, relative);
      if (!known) continue;
      const Comparison comparison = compare(expected, got, declared_bounds(task.file, expected.output), own_leniency);
      if (!comparison.right)
        return tl::unexpected(fmt::format("what was recorded does not come out: {}: {}", describe(*comparison.first), comparison.why));
      continue;
    }
    const Comparison comparison = compare(expected, got, declared_bounds(task.file, expected.output), own_leniency);
    if (!comparison.right)
      return tl::unexpected(fmt::format("{}: {}", describe(*comparison.first), comparison.why));
    // Twelve bits tell exact products from rounded ones; where the reference itself rounds (a softmax), they tell nothing.
    if (trial.pattern == reference::Pattern::wide_integers && got != expected.truth)
      return tl::unexpected(fmt::format("{} is not exact", expected.output));
    expected.reference = std::move(got);
  }
  result.shadowed = result.shadowed && result.refuted == 0;
  result.oracle = result.oracle || (!result.parts.empty() && std::all_of(result.parts.begin(), result.parts.end(), [](const auto& part) { return part.has_value(); }));
  if (const std::string damage = buffers.damage(); !damage.empty()) return tl::unexpected(damage);
  if (base::defended(base::Defence::check_poison))
    buffers.poison(reference::Buffers::Fill::nan);  // a right answer must not lie in memory that is handed out again
  return result;
}

}  // namespace cudal1::verify
