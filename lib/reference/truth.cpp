// SPDX-License-Identifier: Apache-2.0
#include "reference/truth.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "tensor/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::reference {

namespace {

using Role = kernel::Buffer::Role;

std::vector<std::int64_t> shape_of(const kernel::Buffer& buffer, const task::Workload& workload) {
  auto extents = kernel::extents(buffer.shape, workload.environment);
  if (!extents) throw base::Error(base::Fault::bad_task, base::render(extents.error()));
  return *std::move(extents);
}

double elements(const std::vector<std::int64_t>& shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

std::optional<tensor::NodeId> chosen_among(const tensor::Graph& graph, tensor::NodeId node) {
  const std::string& function = graph.nodes[static_cast<std::size_t>(node)].function;
  if (function != "argmax" && function != "argmin") return std::nullopt;
  return graph.nodes[static_cast<std::size_t>(node)].operands.front();
}

Expected::Choice make_choice(const tensor::Node& node, tensor::RoundedArray candidates) {
  tensor::Array& values = candidates.value;
  Expected::Choice choice;
  choice.sigma = std::move(candidates.sigma);
  choice.length = static_cast<std::int64_t>(values.values.size());
  const auto dim = node.attributes.find("dim");
  const auto* axes = dim == node.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&dim->second);
  if (axes != nullptr && axes->size() == 1) {
    const auto rank = static_cast<std::int64_t>(values.shape.size());
    std::int64_t axis = axes->front();
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) {
      choice.length = values.shape[static_cast<std::size_t>(axis)];
      for (std::int64_t i = axis + 1; i < rank; ++i) choice.stride *= values.shape[static_cast<std::size_t>(i)];
    }
  }
  choice.values = std::move(values.values);
  return choice;
}

}  // namespace

tensor::RoundingOptions rounding_options(const Soundness& soundness, int threads) {
  tensor::RoundingOptions options;
  const auto rounded = [](outcome::Precision precision) {
    const double operands = outcome::operand_roundoff(precision);
    return operands > tensor::unit_roundoff(tensor::Dtype::float32) ? operands : 0;
  };
  options.convolution_operands = rounded(outcome::of_convolutions(soundness.precision));
  options.product_operands = rounded(outcome::of_products(soundness.precision));
  options.runs = soundness.runs;
  options.seed = soundness.seed;
  options.threads = threads;
  return options;
}

std::map<std::string, double> numbers(const task::Workload& workload) {
  std::map<std::string, double> result;
  for (const auto& [name, value] : workload.environment)
    result[name] = std::visit([](auto number) { return static_cast<double>(number); }, value);
  return result;
}

std::vector<Expected> outputs(const task::Task& task, const task::Workload& workload) {
  std::vector<Expected> result;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    if (buffer.role == Role::input) continue;
    Expected& expected = result.emplace_back();
    expected.output = buffer.name;
    expected.dtype = buffer.dtype;
    expected.shape = shape_of(buffer, workload);
  }
  return result;
}

std::map<std::string, tensor::Array> input_arrays(const task::Task& task, const task::Workload& workload,
                                                  const std::vector<Bytes>& inputs) {
  std::map<std::string, tensor::Array> arrays;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (buffer.role != Role::output) arrays[buffer.name] = tensor::from_bytes(buffer.dtype, shape_of(buffer, workload), inputs[i].data());
  }
  return arrays;
}

std::optional<std::vector<Expected>> oracle(const task::Task& task, const task::Workload& workload,
                                            const std::vector<Bytes>& inputs, const std::optional<Soundness>& soundness,
                                            int threads) {
  if (!task.torch) return std::nullopt;
  const std::map<std::string, tensor::Array> arrays = input_arrays(task, workload, inputs);

  tensor::Graph graph = *task.torch;
  const std::string marker = "candidates of ";
  for (const auto& [output, node] : task.torch->outputs)
    if (const auto operand = chosen_among(graph, node)) graph.outputs.emplace_back(marker + output, *operand);

  std::map<std::string, tensor::RoundedArray> values;
  if (soundness) {
    auto rounded = tensor::evaluate_rounded(graph, arrays, numbers(workload), rounding_options(*soundness, threads));
    if (!rounded) return std::nullopt;
    values = *std::move(rounded);
  } else {
    auto plain = tensor::evaluate(graph, arrays, numbers(workload), threads);
    if (!plain) return std::nullopt;
    for (auto& [name, array] : *plain) values[name].value = std::move(array);
  }
  std::vector<Expected> result = outputs(task, workload);
  for (Expected& expected : result) {
    const auto found = values.find(expected.output);
    if (found == values.end() || static_cast<double>(found->second.value.values.size()) != elements(expected.shape))
      return std::nullopt;
    expected.truth = std::move(found->second.value.values);
    expected.sigma = std::move(found->second.sigma);
    expected.sampled = found->second.sampled;
    expected.alternatives = std::move(found->second.alternatives);
    const auto candidates = values.find(marker + expected.output);
    if (candidates == values.end()) continue;
    for (const auto& [output, node] : task.torch->outputs)
      if (output == expected.output)
        expected.choice = make_choice(graph.nodes[static_cast<std::size_t>(node)], std::move(candidates->second));
  }
  return result;
}

double operations(const task::Task& task, std::size_t assignment) {
  if (!task.torch) return 0;
  const auto types = tensor::infer(*task.torch, task.input_types(), task.assignments());
  return types ? tensor::operations(*task.torch, *types, assignment) : 0;
}

std::vector<double> decode(tensor::Dtype dtype, const Bytes& bytes) {
  const std::size_t size = tensor::size_of(dtype);
  std::vector<double> values(bytes.size() / size);
  constexpr std::size_t part = std::size_t{1} << 18;
  // Of truth values the byte itself: PyTorch has no other true than 1.
  const auto element = [&](std::size_t i) {
    return dtype == tensor::Dtype::bool_ ? std::to_integer<unsigned>(bytes[i]) : tensor::load(dtype, bytes.data() + i * size);
  };
  const auto load = [&](std::size_t from) {
    for (std::size_t i = from; i < std::min(from + part, values.size()); ++i) values[i] = element(i);
  };
  if (values.size() <= part) load(0);
  else base::in_parallel((values.size() + part - 1) / part, [&](std::size_t which) { load(which * part); });
  return values;
}

double reduction_length(const task::Task& task, const task::Workload& workload) {
  double longest = 1;
  double read = 0;
  double written = 0;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    const auto shape = shape_of(buffer, workload);
    if (buffer.role == Role::output) {
      written += elements(shape);
      continue;
    }
    read = std::max(read, elements(shape));
    for (const std::int64_t extent : shape) longest = std::max(longest, static_cast<double>(extent));
  }
  return std::max(longest, read / std::max(1.0, written));
}

}  // namespace cudal1::reference
