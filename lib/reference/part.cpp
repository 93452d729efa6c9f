// SPDX-License-Identifier: Apache-2.0
#include "reference/part.hpp"

#include "tensor/dense.hpp"
#include "tensor/part.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

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

// Whether a part has the values at its first index that this index has alone. A line may use an extent as a number; then fewer indices
// give other values.
bool begins_with(const tensor::Array& part, int axis, const tensor::Array& alone) {
  const tensor::Array first = tensor::cut(part, axis, {0});
  if (alone.values.size() != first.values.size()) return false;
  const double near = 1e-12 * root_mean_square(first.values);
  for (std::size_t i = 0; i < first.values.size(); ++i)
    if (std::fabs(alone.values[i] - first.values[i]) > near + 1e-10 * std::fabs(first.values[i])) return false;
  return true;
}

std::vector<int> by_extent(const std::vector<std::int64_t>& shape) {
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](int left, int right) { return shape[static_cast<std::size_t>(left)] > shape[static_cast<std::size_t>(right)]; });
  return axes;
}

// One output of a line, cut along one axis of it.
struct Cut {
  tensor::Graph graph;
  std::map<std::string, int> places;
  int axis = 0;
};

// The axis along which an output is computed in pieces.
std::optional<Cut> cut_for_pieces(const task::Task& task, const task::Workload& workload, const std::map<std::string, tensor::Array>& inputs,
                                  const Expected& output) {
  constexpr double small_share = 0.125;   // of the output: what every piece copies
  Cut result{alone(*task.torch, output.output), {}, 0};
  double elements = 1;
  for (const std::int64_t extent : output.shape) elements *= static_cast<double>(extent);
  for (const int axis : by_extent(output.shape)) {
    if (output.shape[static_cast<std::size_t>(axis)] < 2) continue;
    auto places = tensor::cuts(result.graph, inputs, numbers(workload), output.output, axis);
    if (!places) continue;
    double whole = 0;
    for (const auto& [name, place] : *places) whole += place < 0 ? static_cast<double>(inputs.at(name).values.size()) : 0;
    if (whole > small_share * elements) continue;
    const auto two = tensor::evaluate(result.graph, cut(inputs, *places, {0, 1}), numbers(workload), 1);
    const auto one = tensor::evaluate(result.graph, cut(inputs, *places, {0}), numbers(workload), 1);
    if (!two || !one || !begins_with(two->at(output.output), axis, one->at(output.output))) continue;
    result.places = *std::move(places);
    result.axis = axis;
    return result;
  }
  return std::nullopt;
}

void place(const std::vector<double>& piece, const tensor::Around& around, std::int64_t first, std::int64_t count, std::vector<double>& whole) {
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    std::copy_n(piece.begin() + outer * count * around.inner, count * around.inner, whole.begin() + (outer * around.length + first) * around.inner);
}

}  // namespace

std::optional<std::vector<Expected>> oracle_in_pieces(const task::Task& task, const task::Workload& workload, const std::vector<Bytes>& inputs,
                                                      const Soundness& soundness, int threads) {
  constexpr std::int64_t piece_elements = 1 << 16;
  if (!task.torch) return std::nullopt;
  const auto arrays = input_arrays(task, workload, inputs);
  std::vector<Expected> result = outputs(task, workload);
  for (Expected& output : result) {
    if (!tensor::is_floating(output.dtype)) return std::nullopt;
    const auto line = cut_for_pieces(task, workload, arrays, output);
    if (!line) return std::nullopt;
    const tensor::Around around(output.shape, line->axis);
    const std::int64_t indices = std::max<std::int64_t>(1, piece_elements / std::max<std::int64_t>(1, around.outer * around.inner));
    const std::int64_t pieces = (around.length + indices - 1) / indices;
    output.truth.assign(static_cast<std::size_t>(around.outer * around.length * around.inner), 0);
    output.sigma.assign(output.truth.size(), 0);
    std::atomic<bool> whole{true}, sampled{false};
    std::atomic<std::int64_t> next{0};
    tensor::parallel(threads, std::min<std::int64_t>(threads, pieces), 1, [&](std::int64_t, std::int64_t) {
      for (std::int64_t piece = next++; piece < pieces && whole; piece = next++) {
        std::vector<std::int64_t> here(static_cast<std::size_t>(std::min(indices, around.length - piece * indices)));
        std::iota(here.begin(), here.end(), piece * indices);
        Soundness own = soundness;
        own.seed += static_cast<std::uint64_t>(piece);
        const auto values = tensor::evaluate_rounded(line->graph, cut(arrays, line->places, here), numbers(workload), rounding_options(own, 1));
        if (!values || values->at(output.output).value.values.size() != here.size() * static_cast<std::size_t>(around.outer * around.inner)) {
          whole = false;
          return;
        }
        const tensor::RoundedArray& mine = values->at(output.output);
        if (mine.sampled) sampled = true;
        place(mine.value.values, around, here.front(), static_cast<std::int64_t>(here.size()), output.truth);
        place(mine.sigma, around, here.front(), static_cast<std::int64_t>(here.size()), output.sigma);
      }
    });
    if (!whole) return std::nullopt;
    output.sampled = sampled;
  }
  return result;
}

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
  for (const int axis : by_extent(found->shape)) {
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
    const auto fewer = evaluated({part.indices.front()});
    if (!values || !fewer) continue;
    tensor::RoundedArray& mine = values->at(output);
    part.expected.shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(part.indices.size());
    if (mine.value.shape != part.expected.shape || !begins_with(mine.value, axis, fewer->at(output).value)) continue;
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
