// SPDX-License-Identifier: Apache-2.0
#include "reference/truth.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace cudal1::reference {

namespace {

using Role = kernel::Buffer::Role;

std::vector<std::int64_t> shape_of(const kernel::Buffer& buffer, const task::Workload& workload) {
  auto extents = kernel::extents(buffer.shape, workload.environment);
  if (!extents) throw base::Error(base::Fault::bad_input, base::render(extents.error()));
  return *std::move(extents);
}

double elements(const std::vector<std::int64_t>& shape) {
  double count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

std::map<std::string, double> scalars(const task::Workload& workload) {
  std::map<std::string, double> result;
  for (const auto& [name, value] : workload.environment)
    result[name] = std::visit([](auto number) { return static_cast<double>(number); }, value);
  return result;
}

// Each value moved by one rounding of the arithmetic, up or down at random: any implementation may do as much. The
// precision class speaks of float32 operands; those of other types have no more bits to lose.
void perturb_by_rounding(tensor::Array& array, outcome::Precision precision, std::uint64_t stream) {
  if (!tensor::is_floating(array.dtype)) return;
  const double step = array.dtype == tensor::Dtype::float32 ? outcome::operand_roundoff(precision)
                                                            : std::min(tensor::unit_roundoff(array.dtype), 0x1p-24);
  base::Random random(0x9e77, stream);
  for (double& value : array.values) value *= random.below(2) == 0 ? 1 + step : 1 - step;
}

// Whether every element of the outputs comes from single elements: then no order of evaluation excuses an error.
bool elementwise(const tensor::Graph& graph) {
  static const std::set<std::string, std::less<>> functions = [] {
    std::set<std::string, std::less<>> names{"input", "constant"};
    for (const auto& family : {tensor::pointwise_rows(), tensor::shape_rows(), tensor::creation_rows()})
      for (const tensor::Row& row : family) names.emplace(row.signature.substr(0, row.signature.find('(')));
    return names;
  }();
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const tensor::Node& node) { return functions.contains(node.function); });
}

std::optional<tensor::NodeId> chosen_among(const tensor::Graph& graph, tensor::NodeId node) {
  const std::string& function = graph.nodes[static_cast<std::size_t>(node)].function;
  if (function != "argmax" && function != "argmin") return std::nullopt;
  return graph.nodes[static_cast<std::size_t>(node)].operands.front();
}

Expected::Choice make_choice(const tensor::Node& node, const tensor::Node& operand, tensor::Array values) {
  Expected::Choice choice;
  choice.slack = operand.function == "input" ? 0 : 1.3e-6;
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

std::optional<std::vector<Expected>> oracle(const task::Task& task, const task::Workload& workload,
                                            const std::vector<Bytes>& inputs, std::optional<outcome::Precision> perturb,
                                            int threads) {
  if (!task.torch) return std::nullopt;
  std::map<std::string, tensor::Array> arrays;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (buffer.role == Role::output) continue;
    arrays[buffer.name] = tensor::from_bytes(buffer.dtype, shape_of(buffer, workload), inputs[i].data());
  }

  tensor::Graph graph = *task.torch;
  const std::string marker = "candidates of ";
  for (const auto& [output, node] : task.torch->outputs)
    if (const auto operand = chosen_among(graph, node)) graph.outputs.emplace_back(marker + output, *operand);

  auto values = tensor::evaluate(graph, arrays, scalars(workload), threads);
  if (!values) return std::nullopt;
  std::vector<Expected> result = outputs(task, workload);
  for (Expected& expected : result) {
    const auto found = values->find(expected.output);
    if (found == values->end() || static_cast<double>(found->second.values.size()) != elements(expected.shape))
      return std::nullopt;
    expected.truth = std::move(found->second.values);
    const auto candidates = values->find(marker + expected.output);
    if (candidates == values->end()) continue;
    for (const auto& [output, node] : task.torch->outputs) {
      if (output != expected.output) continue;
      const tensor::Node& chooser = graph.nodes[static_cast<std::size_t>(node)];
      expected.choice = make_choice(chooser, graph.nodes[static_cast<std::size_t>(chooser.operands.front())],
                                    std::move(candidates->second));
    }
  }
  const bool summed = !elementwise(*task.torch) || (perturb && *perturb != outcome::Precision::fp32);
  for (Expected& expected : result) expected.summed = summed;
  if (!perturb) return result;

  std::uint64_t stream = 0;
  for (auto& [name, array] : arrays) perturb_by_rounding(array, *perturb, stream++);
  if (auto moved = tensor::evaluate(*task.torch, arrays, scalars(workload), threads))
    for (Expected& expected : result)
      if (tensor::is_floating(expected.dtype)) expected.perturbed = std::move((*moved)[expected.output].values);
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
