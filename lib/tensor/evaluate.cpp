// SPDX-License-Identifier: Apache-2.0
#include "tensor/evaluate.hpp"

#include "tensor/prepared_graph.hpp"

#include <fmt/format.h>

namespace cudal1::tensor {

Array from_bytes(Dtype dtype, std::vector<std::int64_t> shape, const std::byte* data) {
  Array array{dtype, std::move(shape), {}};
  const auto count = static_cast<std::size_t>(elements(array.shape));
  array.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) array.values[i] = load(dtype, data + i * size_of(dtype));
  return array;
}

tl::expected<std::map<std::string, Array>, base::Diagnostic> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs,
                                                                      const std::map<std::string, double>& scalars, int threads) {
  const auto prepared = PreparedGraph::make(graph, inputs, scalars);
  if (!prepared) return tl::unexpected(prepared.error());
  std::vector<Array> arrays(graph.nodes.size());
  std::vector<const Array*> view(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    view[i] = &arrays[i];
    if (const std::string name = prepared->input_name(id); !name.empty()) {
      view[i] = &inputs.at(name);
      if (static_cast<std::int64_t>(view[i]->values.size()) == elements(view[i]->shape)) continue;
      base::Diagnostic diagnostic;
      diagnostic.file = "torch";
      diagnostic.line = 1;
      diagnostic.column = graph.nodes[i].column;
      diagnostic.message = fmt::format("the values of {} do not fill its shape", name);
      return tl::unexpected(diagnostic);
    }
    std::vector<const Array*> operands;
    for (const NodeId operand : graph.nodes[i].operands) operands.push_back(view[static_cast<std::size_t>(operand)]);
    auto computed = prepared->compute(id, operands, threads);
    if (!computed) return tl::unexpected(computed.error());
    arrays[i] = *std::move(computed);
    for (const NodeId operand : graph.nodes[i].operands)
      if (prepared->last_use(operand) == id) arrays[static_cast<std::size_t>(operand)] = {};
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
