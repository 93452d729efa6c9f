// SPDX-License-Identifier: Apache-2.0
#include "families/values.hpp"

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

}  // namespace cudal1::families
