// SPDX-License-Identifier: Apache-2.0
#include "tensor/prepared_graph.hpp"

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

tl::expected<PreparedGraph, base::Diagnostic> PreparedGraph::make(const Graph& graph, const std::map<std::string, Array>& inputs,
                                                                  const std::map<std::string, double>& scalars) {
  std::map<std::string, Type> input_types;
  for (const auto& [name, array] : inputs) {
    Type type{array.dtype, {}};
    for (const std::int64_t extent : array.shape) type.shape.push_back({std::to_string(extent), {extent}});
    input_types[name] = std::move(type);
  }
  PreparedGraph result;
  result.graph_ = &graph;
  result.values_ = {numbers(scalars)};
  auto inferred = infer_all(graph, input_types, result.values_);
  if (!inferred) return tl::unexpected(inferred.error());
  result.inferred_ = *std::move(inferred);
  result.last_use_.assign(graph.nodes.size(), -1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId operand : graph.nodes[i].operands) result.last_use_[static_cast<std::size_t>(operand)] = static_cast<NodeId>(i);
  for (const auto& output : graph.outputs) result.last_use_[static_cast<std::size_t>(output.second)] = static_cast<NodeId>(graph.nodes.size());
  return result;
}

std::string PreparedGraph::input_name(NodeId id) const {
  return node(id).function == "input" ? std::get<std::string>(node(id).attributes.at("name")) : std::string();
}

Call PreparedGraph::call(NodeId id, const Names& names) const {
  return Call(*graph_, node(id), *find_function(node(id).function), inferred_.types, inferred_.weak, names);
}

tl::expected<Array, base::Diagnostic> PreparedGraph::compute(NodeId id, const std::vector<const Array*>& operands, int threads) const {
  Array out;
  out.dtype = type(id).dtype;
  double count = 1;
  for (const Extent& extent : type(id).shape) {
    out.shape.push_back(extent.values.front());
    count *= static_cast<double>(extent.values.front());
  }
  if (count > element_limit)
    return tl::unexpected(complaint(node(id), fmt::format("the result {} is too large to evaluate", to_string(type(id).shape))));
  const Names known = names();
  try {
    out.values.resize(static_cast<std::size_t>(count));
    if (node(id).function == "constant") out.values[0] = constant_value(node(id).attributes.at("value"), known);
    else {
      const Call here = call(id, known);
      find_function(node(id).function)->row->evaluate({here, operands, out, threads});
    }
  } catch (const Refusal& refusal) {
    return tl::unexpected(complaint(node(id), refusal.what()));
  } catch (const std::bad_alloc&) {
    return tl::unexpected(complaint(node(id), "there is not enough memory to evaluate it"));
  }
  return out;
}

}  // namespace cudal1::tensor
