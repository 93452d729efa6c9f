// SPDX-License-Identifier: Apache-2.0
#include "reference/survey.hpp"

#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string_view>

namespace cudal1::reference {

namespace {

using Names = std::set<std::string, std::less<>>;
using Role = kernel::Buffer::Role;

Names names_of(std::initializer_list<std::vector<tensor::Row>> families) {
  Names names{"input", "constant"};
  for (const auto& family : families)
    for (const tensor::Row& row : family) names.emplace(row.signature.substr(0, row.signature.find('(')));
  return names;
}

const Names& single_element_functions() {
  static const Names names = names_of({tensor::pointwise_rows(), tensor::shape_rows(), tensor::creation_rows()});
  return names;
}

const Names& shape_functions() {
  static const Names names = names_of({tensor::shape_rows()});
  return names;
}

// Near 0 they are about their argument, and are written as differences of numbers near 1.
bool cancels(std::string_view function) {
  static const Names names{"tanh", "expm1", "log1p", "elu", "selu", "celu", "sinh", "asin", "atan", "erf", "sin", "tan", "tanhshrink", "prod", "cumprod"};
  return names.contains(function);
}

bool keeps_integers(std::string_view function) {
  static const Names names{"add", "sub", "mul", "neg", "abs", "square", "sum", "cumsum", "amax", "amin", "maximum", "minimum", "matmul", "sort", "topk", "floor_divide",
                           "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"};
  return names.contains(function) || shape_functions().contains(function);
}

bool ends_integers(std::string_view function) {
  static const Names names{"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "logical_not", "any", "all", "mean", "cast", "argmax", "argmin", "argsort", "topk_index"};
  return names.contains(function);
}

bool multiplies(std::string_view function) { return function == "mul" || function == "square" || function == "matmul"; }

bool adds_up(std::string_view function) { return function == "sum" || function == "cumsum" || function == "matmul"; }

bool sums_plainly(std::string_view function) {
  static const Names names{"sum", "mean", "logsumexp", "norm", "var", "std", "softmax", "log_softmax", "layer_norm", "rms_norm", "cumsum", "any", "all"};
  return names.contains(function);
}

// One operation of the hardware, or a choice. An argument that is reduced in two parts (exp) gives NaN at an infinity.
bool holds_at_infinity(std::string_view function) {
  static const Names names{"input", "constant", "add", "sub", "mul", "div", "neg", "abs", "relu", "leaky_relu", "maximum", "minimum", "clamp", "where", "sqrt",
                           "hardtanh", "relu6", "threshold", "square", "eq", "ne", "lt", "le", "gt", "ge", "full", "cast"};
  return names.contains(function) || shape_functions().contains(function);
}

// Which nodes an input reaches, itself among them.
std::vector<bool> reached(const tensor::Graph& graph, const std::string& input) {
  std::vector<bool> result(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const tensor::Node& node = graph.nodes[i];
    if (node.function == "input") {
      const auto name = node.attributes.find("name");
      result[i] = name != node.attributes.end() && name->second == tensor::Attribute(input);
    }
    for (const tensor::NodeId operand : node.operands) result[i] = result[i] || result[static_cast<std::size_t>(operand)];
  }
  return result;
}

// Seen through changes of shape, 0, 1, 2, …: what is equal to one of them is a place.
bool are_places(const tensor::Graph& graph, tensor::NodeId at) {
  while (true) {
    const tensor::Node& node = graph.nodes[static_cast<std::size_t>(at)];
    if (node.function == "arange") return true;
    if (!shape_functions().contains(node.function) || node.operands.size() != 1) return false;
    at = node.operands.front();
  }
}

// An element at each place that an integer names. PyTorch refuses a place that is not there.
bool looks_up(const tensor::Graph& graph, const tensor::Node& node) {
  return (node.function == "eq" || node.function == "ne") && std::any_of(node.operands.begin(), node.operands.end(), [&](tensor::NodeId at) { return are_places(graph, at); });
}

bool only_arithmetic(const tensor::Graph& graph, const std::string& input) {
  std::vector<bool> integer(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const tensor::Node& node = graph.nodes[i];
    if (node.function == "input") {
      const auto name = node.attributes.find("name");
      integer[i] = name != node.attributes.end() && name->second == tensor::Attribute(input);
      continue;
    }
    const auto comes_in = [&](tensor::NodeId operand) { return static_cast<bool>(integer[static_cast<std::size_t>(operand)]); };
    if (std::none_of(node.operands.begin(), node.operands.end(), comes_in)) continue;
    if (looks_up(graph, node)) return false;
    if (ends_integers(node.function)) continue;
    if (!keeps_integers(node.function)) return false;
    integer[i] = true;
  }
  return std::find(integer.begin(), integer.end(), true) != integer.end();
}

// Operands of a product are inputs, seen another way at most: no zeros are known beforehand that may be skipped.
bool multiplies_inputs(const tensor::Graph& graph, const tensor::Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(), [&](tensor::NodeId at) {
    while (true) {
      const tensor::Node& operand = graph.nodes[static_cast<std::size_t>(at)];
      if (operand.function == "input") return true;
      if (!shape_functions().contains(operand.function) || operand.operands.size() != 1) return false;
      at = operand.operands.front();
    }
  });
}

// The two inputs of integers that a line's only product takes one each of; none if it is not so.
std::vector<std::size_t> factors_of(const task::Task& task, const Survey& survey) {
  const tensor::Graph& graph = *task.torch;
  const auto product = std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const tensor::Node& node) { return multiplies(node.function); });
  if (survey.degree != 2 || product == graph.nodes.end() || product->operands.size() != 2) return {};
  std::vector<std::size_t> result;
  for (const tensor::NodeId operand : product->operands) {
    std::vector<std::size_t> here;
    for (std::size_t i = 0; i < task.file.buffers.size(); ++i)
      if (survey.inputs[i].arithmetic && reached(graph, task.file.buffers[i].name)[static_cast<std::size_t>(operand)]) here.push_back(i);
    if (here.size() != 1) return {};
    result.push_back(here.front());
  }
  return result.front() == result.back() ? std::vector<std::size_t>{} : result;
}

}  // namespace

double largest_integer(tensor::Dtype dtype) {
  switch (dtype) {
    case tensor::Dtype::int8: return 127;
    case tensor::Dtype::uint8: return 255;
    case tensor::Dtype::int16: return 32767;
    case tensor::Dtype::int32: return 2147483647;
    default: return 0x1p53;
  }
}

Survey survey(const task::Task& task) {
  Survey result;
  result.inputs.resize(task.file.buffers.size());
  if (!task.torch) return result;
  const tensor::Graph& graph = *task.torch;
  const auto all = [&](const auto& holds) { return std::all_of(graph.nodes.begin(), graph.nodes.end(), holds); };
  result.single_elements = all([](const tensor::Node& node) { return single_element_functions().contains(node.function); });
  result.infinities = all([](const tensor::Node& node) { return holds_at_infinity(node.function); });
  result.not_a_number = all([&](const tensor::Node& node) {
    return single_element_functions().contains(node.function) || sums_plainly(node.function) ||
           (node.function == "matmul" && multiplies_inputs(graph, node));
  });
  result.sums = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const tensor::Node& node) { return adds_up(node.function); });
  result.degree += static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const tensor::Node& node) { return multiplies(node.function); }));
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (buffer.role == Role::output) continue;
    const std::vector<bool> nodes = reached(graph, buffer.name);
    result.inputs[i].homogeneous = true;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (nodes[k] && cancels(graph.nodes[k].function)) result.inputs[i].homogeneous = false;
    result.inputs[i].arithmetic = !tensor::is_floating(buffer.dtype) && buffer.dtype != tensor::Dtype::bool_ && only_arithmetic(graph, buffer.name);
  }
  result.factors = factors_of(task, result);
  return result;
}

double integer_limit(const task::Task& task, const Survey& survey, const task::Workload& workload) {
  double limit = 0x1p53;
  double terms = 2;
  const bool only_products = task.torch && std::none_of(task.torch->nodes.begin(), task.torch->nodes.end(),
                                                        [](const tensor::Node& node) { return adds_up(node.function) && node.function != "matmul"; });
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (buffer.role != Role::input && !tensor::is_floating(buffer.dtype) && buffer.dtype != tensor::Dtype::bool_) limit = std::min(limit, largest_integer(buffer.dtype));
    if (buffer.role == Role::output || !survey.sums) continue;
    double count = 1, longest = 1;
    if (const auto extents = kernel::extents(buffer.shape, workload.environment))
      for (const std::int64_t extent : *extents) count *= static_cast<double>(extent), longest = std::max(longest, static_cast<double>(extent));
    terms = std::max(terms, only_products ? longest : count);   // a product of matrices adds up along one axis
  }
  limit = std::pow(limit / (terms * static_cast<double>(1 + task.torch->nodes.size())), 1.0 / survey.degree);
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i)
    if (survey.inputs[i].arithmetic) limit = std::min(limit, largest_integer(task.file.buffers[i].dtype));
  return std::floor(limit);
}

}  // namespace cudal1::reference
