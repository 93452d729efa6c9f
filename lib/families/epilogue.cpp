// SPDX-License-Identifier: Apache-2.0
#include "families/epilogue.hpp"

#include "algebra/pointwise.hpp"
#include "families/arguments.hpp"

#include <fmt/format.h>

namespace cudal1::families {

std::string applied(const Node& pointwise, const std::vector<Operand>& operands) {
  const PointwiseFunction& function = *find_pointwise(pointwise.function());
  const tensor::Dtype first = operands[0].node.dtype;
  std::vector<std::string> texts;
  for (const auto& [source, text] : operands) {
    if (source.is<Number>()) {
      const std::string& literal = source.as<Number>().text;
      texts.push_back(is_literal(literal) ? c_literal(literal, function.truth ? first : pointwise.dtype)
                                          : converted(compute_type(function.truth && operands.size() > 1 ? first : pointwise.dtype), text));
    } else if (pointwise.computes("div") && !tensor::is_floating(source.dtype)) {
      texts.push_back(converted(compute_type(pointwise.dtype), text));
    } else {
      texts.push_back(text);
    }
  }
  return spelt(function, texts);
}

std::string declared(const Node& node, const std::string& name, const std::string& value) {
  return fmt::format("const {} {} = {};", compute_type(node.dtype), name, value);
}

std::string stored(tensor::Dtype dtype, const std::string& value) {
  const std::string type(tensor::cuda_name(dtype));
  return type == compute_type(dtype) ? value : converted(type, value);
}

void declare_inputs(const Region& region, const Dag& dag, Arguments& arguments) {
  for (const Instance& instance : region.instances)
    if (instance.leaf && !instance.buffer.empty()) arguments.pointer(instance.buffer, dag.at(instance.node).dtype, false);
}

void declare_epilogue(const Region& region, const Dag& dag, Arguments& arguments) {
  declare_inputs(region, dag, arguments);
  const Region::Root& root = region.roots[0];
  arguments.pointer(root.buffer, dag.at(region.at(root.instance).node).dtype, true);
}

cuda_code::Sum address_sum(const tensor::Shape& strides, const tensor::Extent& start, const std::vector<std::string>& at, Arguments& arguments) {
  cuda_code::Sum sum;
  if (!start.values.empty()) sum.add(arguments.number(start));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (is_zero(strides[i]) || at[i].empty()) continue;
    sum.add(is_one(strides[i]) ? at[i] : fmt::format("size_t({}) * {}", at[i], arguments.number(strides[i])));
  }
  return sum;
}

std::string address(const tensor::Shape& strides, const tensor::Extent& start, const std::vector<std::string>& at,
                    Arguments& arguments) {
  return address_sum(strides, start, at, arguments).text();
}

Spelling spelling(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t indent,
                  Arguments& arguments, const std::map<std::size_t, std::string>& loaded) {
  const std::string margin(indent, ' ');
  Spelling result;
  std::vector<std::string> names(region.instances.size());
  for (std::size_t i = 0; i < region.instances.size(); ++i) {
    const Instance& instance = region.instances[i];
    const Node& from = dag.at(instance.node);
    const std::string type = compute_type(from.dtype);
    names[i] = fmt::format("v{}", i);
    const auto say = [&](const std::string& text) {
      result.statements += fmt::format("{}{}\n", margin, declared(from, names[i], text));
    };
    if (instance.node == region.producer) {
      names[i] = "produced";
    } else if (instance.leaf && from.is<Number>()) {
      names[i] = arguments.number(from);
    } else if (instance.leaf && from.is<Coordinate>()) {
      say(converted(type, address(instance.strides, {}, at, arguments)));
    } else if (const auto found = loaded.find(i); found != loaded.end()) {
      say(converted(type, found->second));
    } else if (instance.leaf) {
      say(converted(type, fmt::format("{}[{}]", arguments.pointer(instance.buffer, from.dtype, false),
                                      address(instance.strides, instance.offset, at, arguments))));
    } else {
      std::vector<Operand> operands;
      for (int operand : instance.operands) operands.push_back({dag.at(region.at(operand).node), names[static_cast<std::size_t>(operand)]});
      say(applied(from, operands));
    }
  }
  result.value = names[static_cast<std::size_t>(region.roots[0].instance)];
  return result;
}

Epilogue epilogue(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t indent,
                  Arguments& arguments) {
  const auto [statements, value] = spelling(region, dag, at, indent, arguments);
  const Region::Root& root = region.roots[0];
  const tensor::Dtype dtype = dag.at(region.at(root.instance).node).dtype;
  return {statements, fmt::format("{}[{}] = {};", arguments.pointer(root.buffer, dtype, true),
                                  address(root.strides, root.offset, at, arguments),
                                  stored(dtype, value))};
}

std::vector<std::string> coordinates_along(const tensor::Shape& shape, const std::vector<std::size_t>& dims, const std::string& index, const std::string& type,
                                           std::vector<std::string>& at, Arguments& arguments, std::size_t named) {
  std::vector<std::string> result;
  std::string rest = index;
  for (std::size_t k = dims.size(); k-- > 0;) {
    at[dims[k]] = fmt::format("at{}", dims[k] + named);
    const std::string extent = arguments.number(shape[dims[k]]);
    result.push_back(fmt::format("const {} {} = {};", type, at[dims[k]], k == 0 ? rest : fmt::format("{} % {}", rest, extent)));
    rest = fmt::format("{} / {}", rest, extent);
  }
  return result;
}

std::string coordinates(const tensor::Shape& shape, const std::string& index, std::vector<std::string>& at,
                        Arguments& arguments, std::size_t named) {
  at.assign(shape.size(), "");
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!is_one(shape[i])) dims.push_back(i);
  std::string text;
  for (const std::string& each : coordinates_along(shape, dims, index, "int", at, arguments, named)) text += "  " + each + "\n";
  return text;
}

std::string matrix_coordinates(const Region& region, const std::string& index, std::vector<std::string>& at, Arguments& arguments) {
  const std::string text = coordinates({region.space.begin(), region.space.end() - 2}, index, at, arguments);
  at.insert(at.end(), {"row", "column"});
  return text;
}

}  // namespace cudal1::families
