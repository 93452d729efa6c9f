// SPDX-License-Identifier: Apache-2.0
#include "verify/task_gate.hpp"

#include "kernel/checker.hpp"
#include "reference/buffers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace cudal1::verify {

namespace {

using outcome::TaskVerdict;
using Role = kernel::Buffer::Role;
using Values = std::vector<double>;

constexpr double most = 0.7;    // of the elements being trivial (METR's threshold for KernelBench)
constexpr double few = 0.05;    // of the elements moving under other inputs
constexpr double far = 16;      // times what rounding explains

template <typename Near>
double share(std::size_t count, const Near& near) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += near(i) ? 1 : 0;
  return count == 0 ? 0 : static_cast<double>(found) / static_cast<double>(count);
}

double share_near(const Values& values, const Values& others, const Bounds& near) {
  if (values.size() != others.size()) return 0;
  return share(values.size(), [&](std::size_t i) {
    return std::fabs(values[i] - others[i]) <= near.absolute + near.relative * std::fabs(others[i]);
  });
}

bool finite(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// The outputs of one run, in order of declaration; empty when it fails.
std::optional<std::vector<Values>> run(device::Device& device, const task::Task& task, const Program& program,
                                       const std::vector<reference::Bytes>& inputs, base::Random& random) {
  reference::Buffers buffers(device, *program.plan, random);
  buffers.load(inputs);
  buffers.poison(reference::Buffers::Fill::nan);
  if (device.run(buffers.bind(*program.module), {false, 0}).status != device::RunResult::Status::ok) return std::nullopt;
  std::vector<Values> outputs;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i)
    if (task.file.buffers[i].role != Role::input)
      outputs.push_back(reference::decode(task.file.buffers[i].dtype, buffers.read(i)));
  return outputs;
}

// An input whose every draw is the same, moved: true when there is a way to.
bool move_all(tensor::Dtype dtype, reference::Bytes& bytes) {
  if (!tensor::is_floating(dtype)) return false;
  const std::size_t size = tensor::size_of(dtype);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const double value = tensor::load(dtype, bytes.data() + i);
    // Not all alike: what is divided by its own largest element would stay.
    const double by = i / size % 2 == 0 ? 1.5 : 0.75;
    tensor::store(dtype, value == 0 ? 0.5 : by * value, bytes.data() + i);
  }
  return true;
}

}  // namespace

std::vector<outcome::TaskFinding> examine(const TaskFigures& figures) {
  std::vector<outcome::TaskFinding> findings;
  const auto find = [&](TaskVerdict verdict, std::string reason) { findings.push_back({verdict, std::move(reason)}); };
  for (const OutputFigures& of : figures.outputs) {
    const std::string& output = of.output;
    if (!of.finite) {
      find(TaskVerdict::broken, fmt::format("{} is not finite under the declared inputs", output));
      continue;
    }
    if (of.share_repeated < 1)
      find(TaskVerdict::unstable, fmt::format("two runs on the same inputs disagree in {:.1f} % of {}",
                                              100 * (1 - of.share_repeated), output));
    if (of.share_zero >= most)
      find(TaskVerdict::degenerate, fmt::format("{:.0f} % of {} is 0", 100 * of.share_zero, output));
    else if (of.share_constant >= most)
      find(TaskVerdict::degenerate, fmt::format("{:.0f} % of {} is one constant", 100 * of.share_constant, output));
    else if (of.share_unmoved >= 1 - few)
      find(TaskVerdict::degenerate, fmt::format("{:.0f} % of {} is the same for other inputs", 100 * of.share_unmoved, output));
    if (!of.equal_input.empty())
      find(TaskVerdict::input_range,
           fmt::format("{} equals {} under the declared inputs; variants are verified under others too", output, of.equal_input));
  }
  for (const std::string& buffer : figures.inert_starts)
    find(TaskVerdict::input_range, fmt::format("what {} holds at the start moves no output under the declared inputs", buffer));
  for (const std::string& input : figures.inert_inputs)
    find(TaskVerdict::degenerate, fmt::format("{} moves no output", input));
  if (figures.rounding > far)
    find(TaskVerdict::ill_conditioned,
         fmt::format("rounding moves the output {:.0f} times as far as its sums explain", figures.rounding));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& left, const auto& right) { return left.verdict < right.verdict; });
  return findings;
}

OutputFigures figures(const std::string& output, const Values& first, const Values& other, const Bounds& near) {
  OutputFigures result;
  result.output = output;
  result.finite = finite(first) && finite(other);
  if (!result.finite || first.empty()) return result;
  double mean = 0;
  for (const double value : other) mean += value / static_cast<double>(other.size());
  const auto near_to = [&](double number) {
    return share(first.size(), [&](std::size_t i) {
      return std::fabs(first[i] - number) <= near.absolute + near.relative * std::fabs(number);
    });
  };
  result.share_zero = near_to(0);
  result.share_constant = near_to(mean);
  result.share_unmoved = share_near(first, other, near);
  return result;
}

double rounding_of(const Case& subject, outcome::Precision precision) {
  double most = 0;
  for (const reference::Expected& expected : subject.expected) {
    if (expected.sigma.size() != expected.truth.size()) continue;
    double moved = 0;
    double norm = 0;
    for (std::size_t i = 0; i < expected.truth.size(); ++i) {
      if (!std::isfinite(expected.truth[i])) continue;
      moved += std::pow(expected.sigma[i], 2);
      norm += std::pow(expected.truth[i], 2);
    }
    const double unit = std::max(outcome::operand_roundoff(precision), tensor::unit_roundoff(expected.dtype));
    const double explained = tensor::rounding_rms * unit * (1 + std::sqrt(subject.operations));
    if (norm > 0) most = std::max(most, std::sqrt(moved / norm) / explained);
  }
  return most;
}

TaskFigures observe(device::Device& device, const task::Task& task, const task::Workload& workload,
                    const Program& program, std::uint64_t seed, base::Random& random) {
  using reference::Pattern;
  const auto inputs = reference::inputs(task, workload, {Pattern::declared, seed});
  const auto others = reference::inputs(task, workload, {Pattern::declared, ~seed});
  const auto first = run(device, task, program, inputs, random);
  const auto again = run(device, task, program, inputs, random);
  const auto other = run(device, task, program, others, random);

  TaskFigures result;
  std::vector<Bounds> bounds;
  std::size_t next = 0;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    if (buffer.role == Role::input) continue;
    OutputFigures& of = result.outputs.emplace_back();
    of.output = buffer.name;
    of.finite = false;
    const std::size_t index = next++;
    if (!first || !again || !other) continue;
    const Values& values = (*first)[index];
    bounds.push_back(bounds_of(task.file, buffer.name, buffer.dtype, values));
    of = figures(buffer.name, values, (*other)[index], bounds.back());
    if (others == inputs) of.share_unmoved = 0;  // all of them recorded: there are no others
    // Whether another order is the same the checker knows.
    of.share_repeated = of.finite && !kernel::checker(task.file) ? share_near(values, (*again)[index], bounds.back()) : 1;
    for (std::size_t i = 0; i < inputs.size() && of.finite; ++i) {
      if (inputs[i].empty() || task.file.buffers[i].role != Role::input) continue;
      const Values input = reference::decode(task.file.buffers[i].dtype, inputs[i]);
      if (share_near(values, input, bounds.back()) >= 1) of.equal_input = task.file.buffers[i].name;
    }
  }
  if (!first) return result;

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (inputs[i].empty()) continue;
    auto moved = inputs;
    moved[i] = others[i];
    if (moved[i] == inputs[i] && !move_all(buffer.dtype, moved[i])) continue;
    const auto outputs = run(device, task, program, moved, random);
    bool inert = outputs.has_value();
    for (std::size_t k = 0; inert && k < outputs->size(); ++k) inert = share_near((*outputs)[k], (*first)[k], bounds[k]) >= 1;
    // A sum that begins at 0, or an output that its kernel reads back: no work can be left out there.
    if (inert) (buffer.role == Role::inout ? result.inert_starts : result.inert_inputs).push_back(buffer.name);
  }
  return result;
}

}  // namespace cudal1::verify
