// SPDX-License-Identifier: Apache-2.0
#include "reference/part.hpp"

#include "tensor/dense.hpp"
#include "tensor/part.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace cudal1::reference {

namespace {

std::vector<std::int64_t> drawn(std::int64_t extent, std::size_t count, base::Random& random) {
  std::set<std::int64_t> indices;
  while (indices.size() < std::min(count, static_cast<std::size_t>(extent)))
    indices.insert(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent))));
  return {indices.begin(), indices.end()};
}

double root_mean_square(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

// The torch line of one output alone, so that others do not have to be cut as well.
tensor::Graph alone(const tensor::Graph& graph, const std::string& output) {
  tensor::Graph result = graph;
  std::erase_if(result.outputs, [&](const auto& each) { return each.first != output; });
  return tensor::simplify(result);
}

std::map<std::string, tensor::Array> cut(const std::map<std::string, tensor::Array>& inputs, const std::map<std::string, int>& places,
                                         const std::vector<std::int64_t>& indices) {
  std::map<std::string, tensor::Array> parts;
  for (const auto& [name, place] : places) parts[name] = place < 0 ? inputs.at(name) : tensor::cut(inputs.at(name), place, indices);
  return parts;
}

}  // namespace

std::optional<Part> part_oracle(const task::Task& task, const task::Workload& workload, std::size_t assignment,
                                const std::map<std::string, tensor::Array>& inputs, const std::string& output, std::size_t count,
                                double operations_limit, const Soundness& soundness, base::Random& random, int threads) {
  if (!task.torch) return std::nullopt;
  std::vector<Expected> whole = outputs(task, workload);
  const auto found = std::find_if(whole.begin(), whole.end(), [&](const Expected& each) { return each.output == output; });
  if (found == whole.end() || !tensor::is_floating(found->dtype)) return std::nullopt;
  const tensor::Graph graph = alone(*task.torch, output);
  const double cost = operations(task, assignment) * (1 + soundness.runs);
  const auto extent = [&](int axis) { return found->shape[static_cast<std::size_t>(axis)]; };
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(found->shape.size()); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](int left, int right) { return extent(left) > extent(right); });
  for (const int axis : axes) {
    const double each = cost / static_cast<double>(std::max<std::int64_t>(1, extent(axis)));
    const auto affordable = static_cast<std::size_t>(std::max(0.0, std::min(operations_limit / std::max(each, 1.0), 1e6)));
    if (affordable == 0 || extent(axis) < 2) continue;
    const auto places = tensor::cuts(graph, inputs, numbers(workload), output, axis);
    if (!places) continue;
    Part part{axis, drawn(extent(axis), std::min(count, affordable), random), *found};
    const auto evaluated = [&](const std::vector<std::int64_t>& indices) {
      return tensor::evaluate_rounded(graph, cut(inputs, *places, indices), numbers(workload), rounding_options(soundness, threads));
    };
    auto values = evaluated(part.indices);
    // A line may use an extent as a number; then fewer indices give other values.
    const auto fewer = evaluated({part.indices.front()});
    if (!values || !fewer) continue;
    tensor::RoundedArray& mine = values->at(output);
    part.expected.shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(part.indices.size());
    if (mine.value.shape != part.expected.shape) continue;
    const tensor::Array first = tensor::cut(mine.value, axis, {0});
    const std::vector<double>& alone_values = fewer->at(output).value.values;
    bool equal = alone_values.size() == first.values.size();
    const double near = 1e-12 * root_mean_square(first.values);
    for (std::size_t i = 0; equal && i < alone_values.size(); ++i)
      equal = !(std::fabs(alone_values[i] - first.values[i]) > near + 1e-10 * std::fabs(first.values[i]));
    if (!equal) continue;
    part.expected.truth = std::move(mine.value.values);
    part.expected.sigma = std::move(mine.sigma);
    part.expected.sampled = mine.sampled;
    part.expected.few_runs = mine.sampled && soundness.runs < enough_runs;
    return part;
  }
  return std::nullopt;
}

std::optional<std::vector<double>> truth_at(const task::Task& task, const task::Workload& workload,
                                            const std::map<std::string, tensor::Array>& inputs, const std::string& output, int axis,
                                            const std::vector<std::int64_t>& indices, int threads) {
  const tensor::Graph graph = alone(*task.torch, output);
  const auto places = tensor::cuts(graph, inputs, numbers(workload), output, axis);
  if (!places) return std::nullopt;
  auto values = tensor::evaluate(graph, cut(inputs, *places, indices), numbers(workload), threads);
  if (!values) return std::nullopt;
  return std::move(values->at(output).values);
}

std::vector<double> at(const Part& part, const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  return tensor::cut({tensor::Dtype::float64, shape, values}, part.axis, part.indices).values;
}

std::vector<double> spread(const Part& part, const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  const tensor::Around around(shape, part.axis);
  const auto count = static_cast<std::int64_t>(part.indices.size());
  std::vector<double> mean(static_cast<std::size_t>(around.outer * around.inner));
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t inner = 0; inner < around.inner; ++inner) {
        const double sigma = part.expected.sigma[static_cast<std::size_t>((outer * count + k) * around.inner + inner)];
        mean[static_cast<std::size_t>(outer * around.inner + inner)] += sigma * sigma / static_cast<double>(count);
      }
  std::vector<double> sizes(static_cast<std::size_t>(around.length));
  std::vector<double> result(values.size());
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    for (std::int64_t k = 0; k < around.length; ++k)
      for (std::int64_t inner = 0; inner < around.inner; ++inner) {
        const double value = values[static_cast<std::size_t>((outer * around.length + k) * around.inner + inner)];
        if (std::isfinite(value)) sizes[static_cast<std::size_t>(k)] += value * value;
      }
  // An element may be far larger than those at its place in the part: it is off by at least as much of its size as the part is.
  const double usual = root_mean_square(part.expected.truth), relative = usual > 0 ? root_mean_square(part.expected.sigma) / usual : 0;
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    for (std::int64_t k = 0; k < around.length; ++k) {
      const double size = std::sqrt(sizes[static_cast<std::size_t>(k)] / static_cast<double>(around.outer * around.inner));
      const double scale = usual > 0 ? std::max(1.0, size / usual) : 1;
      for (std::int64_t inner = 0; inner < around.inner; ++inner) {
        const auto at = static_cast<std::size_t>((outer * around.length + k) * around.inner + inner);
        const double own = scale * std::sqrt(mean[static_cast<std::size_t>(outer * around.inner + inner)]);
        result[at] = std::isfinite(values[at]) ? std::max(own, relative * std::fabs(values[at])) : own;
      }
    }
  return result;
}

}  // namespace cudal1::reference
