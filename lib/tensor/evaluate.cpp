// SPDX-License-Identifier: Apache-2.0
#include "tensor/evaluate.hpp"

#include "tensor/dense.hpp"
#include "tensor/infer.hpp"

#include <cmath>
#include <new>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

constexpr double element_limit = 0x1p31;  // 16 GiB of doubles in one intermediate

double constant_value(const Attribute& value, const Names& names) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<SizeText>(&value)) return read_size_text(text->text, names).items.at(0).values.at(0).value;
  throw Refusal("a constant has no value");
}

base::Diagnostic complaint(const Node& node, const std::string& message) {
  base::Diagnostic diagnostic;
  diagnostic.file = "torch";
  diagnostic.line = 1;
  diagnostic.column = node.column;
  diagnostic.message = fmt::format("{}: {}", node.function, message);
  return diagnostic;
}

std::map<std::string, Number> numbers(const std::map<std::string, double>& scalars) {
  std::map<std::string, Number> result;
  for (const auto& [name, value] : scalars)
    result[name] = value == std::floor(value) && std::abs(value) < 0x1p53 ? Number::of(static_cast<std::int64_t>(value)) : Number::of_real(value);
  return result;
}

}  // namespace

Array from_bytes(Dtype dtype, std::vector<std::int64_t> shape, const std::byte* data) {
  Array array{dtype, std::move(shape), {}};
  const auto count = static_cast<std::size_t>(elements(array.shape));
  array.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) array.values[i] = load(dtype, data + i * size_of(dtype));
  return array;
}

tl::expected<std::map<std::string, Array>, base::Diagnostic> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs,
                                                                      const std::map<std::string, double>& scalars, int threads) {
  std::map<std::string, Type> input_types;
  for (const auto& [name, array] : inputs) {
    Type type{array.dtype, {}};
    for (const std::int64_t extent : array.shape) type.shape.push_back({std::to_string(extent), {extent}});
    input_types[name] = std::move(type);
  }
  const std::vector<std::map<std::string, Number>> values = {numbers(scalars)};
  auto inferred = infer_all(graph, input_types, values);
  if (!inferred) return tl::unexpected(inferred.error());
  const Names names = names_of(values, inferred->types);

  std::vector<NodeId> last_use(graph.nodes.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId operand : graph.nodes[i].operands) last_use[static_cast<std::size_t>(operand)] = static_cast<NodeId>(i);
  for (const auto& output : graph.outputs) last_use[static_cast<std::size_t>(output.second)] = static_cast<NodeId>(graph.nodes.size());

  std::vector<Array> arrays(graph.nodes.size());
  std::vector<const Array*> view(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Type& type = inferred->types[i];
    if (node.function == "input") {
      view[i] = &inputs.at(std::get<std::string>(node.attributes.at("name")));
      if (static_cast<std::int64_t>(view[i]->values.size()) != elements(view[i]->shape)) return tl::unexpected(complaint(node, "its values do not fill its shape"));
      continue;
    }
    Array& out = arrays[i];
    view[i] = &out;
    out.dtype = type.dtype;
    double count = 1;
    for (const Extent& extent : type.shape) {
      out.shape.push_back(extent.values.front());
      count *= static_cast<double>(extent.values.front());
    }
    if (count > element_limit) return tl::unexpected(complaint(node, fmt::format("the result {} is too large to evaluate", to_string(type.shape))));
    try {
      out.values.resize(static_cast<std::size_t>(count));
      if (node.function == "constant") {
        out.values[0] = constant_value(node.attributes.at("value"), names);
      } else {
        const Function* function = find_function(node.function);
        const Call call(graph, node, *function, inferred->types, inferred->weak, names);
        std::vector<const Array*> operands;
        for (const NodeId operand : node.operands) operands.push_back(view[static_cast<std::size_t>(operand)]);
        function->row->evaluate({call, operands, out, threads});
      }
    } catch (const Refusal& refusal) {
      return tl::unexpected(complaint(node, refusal.what()));
    } catch (const std::bad_alloc&) {
      return tl::unexpected(complaint(node, "there is not enough memory to evaluate it"));
    }
    for (const NodeId operand : node.operands)
      if (last_use[static_cast<std::size_t>(operand)] == static_cast<NodeId>(i)) arrays[static_cast<std::size_t>(operand)] = {};
  }
  std::map<std::string, Array> outputs;
  for (const auto& [name, node] : graph.outputs) outputs[name] = *view[static_cast<std::size_t>(node)];
  return outputs;
}

double operations(const Graph& graph, const std::vector<Type>& types, std::size_t assignment) {
  // The types at the one assignment asked for, so that the rules see a single value everywhere.
  std::vector<Type> at = types;
  for (Type& type : at)
    for (Extent& extent : type.shape) extent.values = {extent.values.at(assignment)};
  const std::vector<char> weak(types.size(), 0);
  // Sizes are known here as far as they are extents of some tensor.
  std::vector<std::map<std::string, Number>> values(1);
  for (const Type& type : at)
    for (const Extent& extent : type.shape) values[0].emplace(extent.text, Number::of(extent.values.front()));
  const Names names = names_of(values, at);
  double total = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Function* function = find_function(node.function);
    if (function == nullptr || function->row == nullptr) continue;
    const Call call(graph, node, *function, at, weak, names);
    if (function->row->work != nullptr) {
      try {
        total += function->row->work(call, at[i]);
        continue;
      } catch (const Refusal&) {
        // An attribute is written in a size that is no extent; the elements are counted instead.
      }
    }
    double count = 1;
    for (const Extent& extent : at[i].shape) count *= static_cast<double>(extent.values.front());
    total += count;
  }
  return total;
}

}  // namespace cudal1::tensor
