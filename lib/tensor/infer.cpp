// SPDX-License-Identifier: Apache-2.0
#include "tensor/infer.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

constexpr double element_limit = 0x1p40;

base::Diagnostic complaint(const Node& node, const std::string& message) {
  base::Diagnostic diagnostic;
  diagnostic.file = "torch";
  diagnostic.line = 1;
  diagnostic.column = node.column;
  diagnostic.message = node.function == "input" || node.function == "constant" ? message : fmt::format("{}: {}", node.function, message);
  return diagnostic;
}

Type constant_type(const Attribute& value, const Names& names) {
  if (std::holds_alternative<bool>(value)) return {Dtype::bool_, {}};
  if (std::holds_alternative<std::int64_t>(value)) return {Dtype::int64, {}};
  if (const auto* text = std::get_if<SizeText>(&value)) {
    const Quantities read = read_size_text(text->text, names);
    if (read.list || read.items.size() != 1) throw Refusal("a list stands where a number is needed");
    for (const Number& number : read.items.front().values)
      if (number.real) return {Dtype::float32, {}};
    return {Dtype::int64, {}};
  }
  return {Dtype::float32, {}};
}

std::vector<std::map<std::string, Number>> numbers_of(const std::vector<Sizes>& assignments) {
  std::vector<std::map<std::string, Number>> values;
  for (const Sizes& sizes : assignments) {
    values.emplace_back();
    for (const auto& [name, value] : sizes) values.back().emplace(name, Number::of(value));
  }
  return values;
}

}  // namespace

Names names_of(const std::vector<std::map<std::string, Number>>& values, const std::vector<Type>& types) {
  Names names;
  names.assignments = values.size();
  names.name = [&values](const std::string& name) {
    Quantity result{name, {}};
    for (const auto& assignment : values) {
      const auto found = assignment.find(name);
      // A scalar that is no size has no value while shapes are inferred; as an extent it is refused for being real.
      result.values.push_back(found == assignment.end() ? Number::of_real(0x1p-1) : found->second);
    }
    return result;
  };
  names.shape = [&types](NodeId node) -> const Shape& {
    if (node < 0 || static_cast<std::size_t>(node) >= types.size()) throw Refusal("a shape is asked for before its tensor");
    return types[static_cast<std::size_t>(node)].shape;
  };
  return names;
}

tl::expected<Inferred, base::Diagnostic> infer_all(const Graph& graph, const std::map<std::string, Type>& inputs,
                                                   const std::vector<std::map<std::string, Number>>& values) {
  Inferred result;
  result.types.reserve(graph.nodes.size());
  const Names names = names_of(values, result.types);
  for (const Node& node : graph.nodes) {
    try {
      if (values.empty()) throw Refusal("no sizes are given");
      bool weak = false;
      Type type;
      if (node.function == "input") {
        const auto& name = std::get<std::string>(node.attributes.at("name"));
        const auto found = inputs.find(name);
        if (found == inputs.end()) throw Refusal(fmt::format("the input {} has no type", name));
        type = found->second;
        for (const Extent& extent : type.shape)
          if (extent.values.size() != values.size()) throw Refusal(fmt::format("an extent of {} lacks its values", name));
      } else if (node.function == "constant") {
        type = constant_type(node.attributes.at("value"), names);
        weak = true;
      } else {
        const Function* function = find_function(node.function);
        if (function == nullptr || function->row == nullptr) throw Refusal("it is not known to the evaluator");
        const Call call(graph, node, *function, result.types, result.weak, names);
        type = function->row->infer(call);
        weak = !node.operands.empty();
        for (const NodeId operand : node.operands) weak = weak && result.weak[static_cast<std::size_t>(operand)] != 0;
      }
      for (std::size_t at = 0; at < values.size(); ++at) {
        double elements = 1;
        for (const Extent& extent : type.shape) {
          if (extent.values[at] < 0) throw Refusal(fmt::format("the extent {} is {}", extent.text, extent.values[at]));
          elements *= static_cast<double>(std::max<std::int64_t>(extent.values[at], 1));
        }
        if (elements > element_limit) throw Refusal(fmt::format("the result {} has too many elements", to_string(type.shape)));
      }
      if (type.shape.size() > 32) throw Refusal("the result has more than 32 dimensions");
      result.types.push_back(std::move(type));
      result.weak.push_back(weak ? 1 : 0);
    } catch (const Refusal& refusal) {
      return tl::unexpected(complaint(node, refusal.what()));
    }
  }
  return result;
}

std::vector<Extent> resolve(const Graph&, const std::vector<Type>& types, const Attribute& attribute, const std::vector<Sizes>& assignments) {
  const std::vector<std::map<std::string, Number>> values = numbers_of(assignments);
  const auto constant = [&](std::int64_t value) { return Quantity::of(value, assignments.size()).extent(); };
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) return {constant(*integer)};
  std::vector<Extent> result;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute))
    for (const std::int64_t each : *list) result.push_back(constant(each));
  try {
    if (const auto* text = std::get_if<SizeText>(&attribute))
      for (const Quantity& each : read_size_text(text->text, names_of(values, types)).items) result.push_back(each.extent());
  } catch (const Refusal&) {
    return {};
  }
  return result;
}

tl::expected<std::vector<Type>, base::Diagnostic> infer(const Graph& graph, const std::map<std::string, Type>& inputs,
                                                        const std::vector<Sizes>& assignments) {
  const std::vector<std::map<std::string, Number>> values = numbers_of(assignments);
  auto result = infer_all(graph, inputs, values);
  if (!result) return tl::unexpected(result.error());
  return std::move(result->types);
}

}  // namespace cudal1::tensor
