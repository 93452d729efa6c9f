// SPDX-License-Identifier: Apache-2.0
#include "judge/session.hpp"
#include "tensor/dtype.hpp"
#include "verify/compare.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

// The simulator at the declared sizes. It need not execute a whole workload to predict its time, so it looks at what it can
// afford, in places that nobody can know, and says how much that was.
namespace cudal1::judge {

namespace {

using Role = kernel::PlanBuffer::Role;
using Status = device::RunResult::Status;

constexpr double truth_operations = 3e8, truth_elements = 2e7;  // up to which y64 of a whole workload is taken
constexpr std::uint64_t sampled_instructions = 2'000'000;      // warp instructions of blocks that nobody can know
constexpr std::uint64_t whole_instructions = 100'000'000;      // up to which a whole plan is executed
constexpr double least_share = 0.5;                            // of the outputs that their share of the blocks should write

// What was written of an output, and what should have been.
struct Seen {
  reference::Expected expected;
  std::vector<double> got;
  std::vector<std::size_t> places;
};

Seen seen_of(const reference::Expected& truth, const std::vector<double>& values, const std::vector<bool>& written) {
  Seen seen;
  seen.expected.output = truth.output;
  seen.expected.dtype = truth.dtype;
  seen.expected.summed = truth.summed;
  seen.expected.relative_noise = truth.relative_noise;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!written[i]) continue;
    seen.expected.truth.push_back(truth.truth[i]);
    seen.got.push_back(values[i]);
    seen.places.push_back(i);
  }
  seen.expected.shape = {static_cast<std::int64_t>(seen.got.size())};
  return seen;
}

// The index of an element among those seen, as one in the whole output.
void restore_index(std::optional<outcome::WrongElement>& element, const Seen& seen, const std::vector<std::int64_t>& shape) {
  if (!element || element->index.size() != 1) return;
  auto rest = static_cast<std::int64_t>(seen.places.at(static_cast<std::size_t>(element->index.front())));
  element->index.assign(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    element->index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
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

// y64 of a workload, once; empty where that is too dear or not to be had.
const std::vector<reference::Expected>& Session::simulated_truth(std::size_t workload) {
  auto [place, fresh] = simulated_truth_.try_emplace(workload);
  const double operations = reference::operations(task_, workload);
  const double elements = output_elements(workload);
  if (!fresh || !task_.torch || operations > truth_operations || elements > truth_elements) return place->second;
  if (auto truth = reference::oracle(task_, task_.workloads[workload], workload_inputs(workload), std::nullopt, threads_)) place->second = *std::move(truth);
  for (reference::Expected& expected : place->second) {
    const double length = std::max(operations / elements, reference::reduction_length(task_, task_.workloads[workload]));
    expected.relative_noise = 8 * tensor::unit_roundoff(expected.dtype) * (1 + std::sqrt(length));
    if (precision_ != outcome::Precision::fp32 && expected.dtype == tensor::Dtype::float32)
      expected.relative_noise = std::max(expected.relative_noise, outcome::operand_roundoff(precision_));
  }
  return place->second;
}

// Compares what a run of a share of the blocks left with the truth, as far as it is known. Returns how many elements were written.
double Session::look_at(const reference::Buffers& buffers, const kernel::Plan& plan, std::size_t workload, double share, verify::Evidence& evidence) {
  const std::vector<reference::Expected>& truth = simulated_truth(workload);
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
    if (output >= truth.size() || truth[output].choice) continue;
    const Seen seen = seen_of(truth[output], reference::decode(truth[output].dtype, bytes), touched);
    evidence.errors.verified_outputs += static_cast<double>(seen.got.size());
    if (seen.got.empty()) continue;
    verify::Comparison comparison = verify::compare(seen.expected, seen.got, verify::declared_bounds(task_.file, seen.expected.output));
    verify::Evidence one;
    one.errors.relative_l2 = comparison.relative_l2;
    one.errors.max_absolute = comparison.max_absolute;
    if (!comparison.right) {
      restore_index(comparison.first, seen, truth[output].shape);
      restore_index(comparison.worst, seen, truth[output].shape);
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
