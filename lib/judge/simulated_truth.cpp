// SPDX-License-Identifier: Apache-2.0
#include "judge/simulated_truth.hpp"

#include "tensor/dense.hpp"
#include "tensor/dtype.hpp"
#include "tensor/part.hpp"

#include <algorithm>

namespace cudal1::judge {

namespace {

constexpr double affordable_operations = 3e8, affordable_elements = 2e7;  // of y64 of a whole workload
constexpr double compared_elements = 4e6;                                 // of one output, in one run
constexpr std::size_t part_indices = 8;                                    // for sigma
constexpr std::size_t written_indices = 64;                                // where y64 is taken of what a run wrote

double count_of(const std::vector<std::int64_t>& shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

// What the indices in a part of an output choose from, one choice after the other.
reference::Expected::Choice candidates_at(const reference::Part& part, const reference::Expected& whole) {
  const reference::Expected::Choice& all = *whole.choice;
  std::vector<double> numbers(whole.truth.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  reference::Expected::Choice result;
  result.length = all.length;
  for (const double number : reference::at(part, whole.shape, numbers)) {
    const auto line = static_cast<std::int64_t>(number);
    const std::int64_t start = line / all.stride * all.stride * all.length + line % all.stride;
    for (std::int64_t k = 0; k < all.length; ++k) {
      const auto place = static_cast<std::size_t>(start + k * all.stride);
      result.values.push_back(all.values[place]);
      if (!all.sigma.empty()) result.sigma.push_back(all.sigma[place]);
    }
  }
  return result;
}

}  // namespace

SimulatedTruth::SimulatedTruth(const task::Task& task, std::size_t workload, const std::vector<reference::Bytes>& inputs,
                               outcome::Precision precision, int threads, base::Random& random)
    : task_(task), workload_(workload), inputs_(inputs), threads_(threads), outputs_(reference::outputs(task, task.workloads[workload])) {
  parts_.resize(outputs_.size());
  if (!task.torch) return;
  const task::Workload& sizes = task.workloads[workload];
  const double operations = reference::operations(task, workload);
  double elements = 0;
  for (const reference::Expected& expected : outputs_) elements += count_of(expected.shape);
  const bool whole = operations <= affordable_operations && elements <= affordable_elements;
  reference::Soundness soundness{precision, 16, random.next()};
  const bool sigma_as_well = operations * (1 + soundness.runs) <= affordable_operations;
  bool all = true;
  if (!whole || !sigma_as_well) {
    soundness.runs = 4;
    const auto arrays = reference::input_arrays(task, sizes, inputs);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      parts_[i] = reference::part_oracle(task, sizes, workload, arrays, outputs_[i].output, part_indices, affordable_operations, soundness, random, threads);
      all = all && parts_[i].has_value();
    }
  }
  if (!whole) return;
  const bool in_parts = !sigma_as_well && all;
  auto truth = reference::oracle(task, sizes, inputs, in_parts ? std::nullopt : std::optional(soundness), threads);
  if (!truth) return;
  outputs_ = *std::move(truth);
  if (!in_parts) return;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].sigma = reference::spread(*parts_[i], outputs_[i].shape, outputs_[i].truth);
    outputs_[i].sampled = outputs_[i].few_runs = true;
  }
}

std::vector<std::int64_t> SimulatedTruth::drawn(const std::vector<std::int64_t>& shape, int axis, const std::vector<bool>& touched,
                                                std::size_t count, base::Random& random) const {
  const tensor::Around around(shape, axis);
  std::vector<std::int64_t> indices;
  for (std::int64_t k = 0; k < around.length; ++k) {
    bool any = false;
    for (std::int64_t outer = 0; outer < around.outer && !any; ++outer) {
      const auto from = touched.begin() + (outer * around.length + k) * around.inner;
      any = std::find(from, from + around.inner, true) != from + around.inner;
    }
    if (any) indices.push_back(k);
  }
  for (std::size_t i = 0; i < std::min(count, indices.size()); ++i) std::swap(indices[i], indices[i + random.below(indices.size() - i)]);
  indices.resize(std::min(count, indices.size()));
  std::sort(indices.begin(), indices.end());
  return indices;
}

std::optional<reference::Part> SimulatedTruth::among(std::size_t output, const std::vector<bool>& touched, base::Random& random) const {
  const reference::Expected& whole = outputs_.at(output);
  const std::optional<reference::Part>& part = parts_[output];
  if (whole.truth.empty() && !part) return std::nullopt;
  std::vector<std::int64_t> shape = whole.shape;
  if (shape.empty()) shape = {1};
  reference::Part result;
  result.expected.output = whole.output;
  result.expected.dtype = whole.dtype;
  result.expected.sampled = whole.sampled;
  result.expected.few_runs = whole.few_runs;
  const auto largest = std::max_element(shape.begin(), shape.end());
  result.axis = whole.truth.empty() ? part->axis : static_cast<int>(largest - shape.begin());
  const double extent = static_cast<double>(shape[static_cast<std::size_t>(result.axis)]);
  const double operations = whole.truth.empty() ? reference::operations(task_, workload_) / extent : 0;
  const double candidates = whole.choice ? static_cast<double>(whole.choice->length) : 1;
  const double affordable = std::min(compared_elements / candidates / (count_of(shape) / extent), affordable_operations / std::max(1.0, operations));
  const auto most = static_cast<std::size_t>(std::max(1.0, affordable));
  result.indices = drawn(shape, result.axis, touched, whole.truth.empty() ? std::min(written_indices, most) : most, random);
  if (result.indices.empty()) return std::nullopt;
  shape[static_cast<std::size_t>(result.axis)] = static_cast<std::int64_t>(result.indices.size());
  result.expected.shape = shape;
  if (!whole.truth.empty()) {
    result.expected.truth = reference::at(result, whole.shape, whole.truth);
    for (const std::vector<double>& run : whole.alternatives) result.expected.alternatives.push_back(reference::at(result, whole.shape, run));
    if (whole.choice) result.expected.choice = candidates_at(result, whole);
    else result.expected.sigma = reference::at(result, whole.shape, tensor::is_floating(whole.dtype) ? whole.sigma : std::vector<double>(whole.truth.size()));
    return result;
  }
  const task::Workload& sizes = task_.workloads[workload_];
  auto truth = reference::truth_at(task_, sizes, reference::input_arrays(task_, sizes, inputs_), whole.output, result.axis, result.indices, threads_);
  if (!truth) return std::nullopt;
  result.expected.truth = *std::move(truth);
  result.expected.sigma = reference::spread(*part, shape, result.expected.truth);
  result.expected.sampled = result.expected.few_runs = true;
  return result;
}

}  // namespace cudal1::judge
