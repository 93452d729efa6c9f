// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"

#include <algorithm>
#include <cctype>

namespace cudal1::algebra {

int Dag::add(Node node) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& other = nodes[i];
    if (other.kind == node.kind && other.function == node.function && other.operands == node.operands &&
        other.dtype == node.dtype && other.shape == node.shape && other.dims == node.dims &&
        other.attributes == node.attributes && other.windows == node.windows && other.starts == node.starts &&
        other.extent == node.extent)
      return static_cast<int>(i);
  }
  nodes.push_back(std::move(node));
  return static_cast<int>(nodes.size()) - 1;
}

tensor::Extent literal(std::int64_t value, std::size_t assignments) {
  return {std::to_string(value), std::vector<std::int64_t>(assignments, value)};
}

std::string in_parentheses(const std::string& text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
  return plain ? text : "(" + text + ")";
}

tensor::Extent times(const tensor::Extent& a, const tensor::Extent& b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  tensor::Extent result{in_parentheses(a.text) + " * " + in_parentheses(b.text), a.values};
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] *= b.values[i];
  return result;
}

tensor::Extent plus(const tensor::Extent& a, const tensor::Extent& b) {
  tensor::Extent result{in_parentheses(a.text) + " + " + in_parentheses(b.text), a.values};
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += b.values[i];
  return result;
}

tensor::Extent product_of(const tensor::Shape& shape, std::size_t first, std::size_t last, std::size_t assignments) {
  tensor::Extent result = literal(1, assignments);
  for (std::size_t i = first; i < last; ++i) result = times(result, shape[i]);
  return result;
}

std::int64_t largest(const tensor::Extent& extent, std::size_t assignments) {
  const std::size_t count = std::min(assignments, extent.values.size());
  return *std::max_element(extent.values.begin(), extent.values.begin() + static_cast<std::ptrdiff_t>(count));
}

std::int64_t smallest(const tensor::Extent& extent, std::size_t assignments) {
  const std::size_t count = std::min(assignments, extent.values.size());
  return *std::min_element(extent.values.begin(), extent.values.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace cudal1::algebra
