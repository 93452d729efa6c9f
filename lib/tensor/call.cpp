// SPDX-License-Identifier: Apache-2.0
#include "tensor/call.hpp"

#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {

Call::Call(const Graph& graph, const Node& node, const Function& function, const std::vector<Type>& types,
           const std::vector<char>& weak, const Names& names)
    : graph_(graph), node_(node), function_(function), types_(types), weak_(weak), names_(names) {}

const Type& Call::type(int operand) const {
  if (operand < 0 || operand >= operands()) throw Refusal(fmt::format("{} misses an operand", node_.function));
  return types_[static_cast<std::size_t>(node_.operands[static_cast<std::size_t>(operand)])];
}

bool Call::weak(int operand) const {
  return weak_[static_cast<std::size_t>(node_.operands[static_cast<std::size_t>(operand)])] != 0;
}

int Call::index(std::string_view parameter) const { return operand_index(function_, node_, parameter); }

const Attribute& Call::attribute(std::string_view parameter) const {
  const auto found = node_.attributes.find(std::string(parameter));
  if (found == node_.attributes.end()) throw Refusal(fmt::format("{} misses its {}", node_.function, parameter));
  return found->second;
}

bool Call::has(std::string_view parameter) const {
  const auto found = node_.attributes.find(std::string(parameter));
  if (found != node_.attributes.end()) return !std::holds_alternative<std::monostate>(found->second);
  return index(parameter) >= 0;
}

bool Call::truth(std::string_view parameter) const {
  const Attribute& value = attribute(parameter);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer != 0;
  throw Refusal(fmt::format("{} of {} must be True or False", parameter, node_.function));
}

std::string Call::word(std::string_view parameter) const {
  const auto* word = std::get_if<std::string>(&attribute(parameter));
  return word == nullptr ? std::string() : *word;
}

std::vector<Quantity> Call::quantities(std::string_view parameter) const {
  const Attribute& value = attribute(parameter);
  std::vector<Quantity> result;
  const auto real = [&](double number) {
    Quantity quantity{fmt::format("{}", number), {}};
    quantity.values.assign(assignments(), Number::of_real(number));
    return quantity;
  };
  if (std::holds_alternative<std::monostate>(value)) return result;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return {constant(*integer)};
  if (const auto* truth = std::get_if<bool>(&value)) return {constant(*truth ? 1 : 0)};
  if (const auto* number = std::get_if<double>(&value)) return {real(*number)};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t each : *list) result.push_back(constant(each));
    return result;
  }
  if (const auto* text = std::get_if<SizeText>(&value)) return read_size_text(text->text, names_).items;
  throw Refusal(fmt::format("{} of {} must be a number", parameter, node_.function));
}

std::vector<Quantity> Call::quantities(std::string_view parameter, int count) const {
  std::vector<Quantity> result = quantities(parameter);
  if (result.size() == 1) result.resize(static_cast<std::size_t>(count), result.front());
  if (static_cast<int>(result.size()) != count)
    throw Refusal(fmt::format("{} of {} needs 1 or {} numbers, not {}", parameter, node_.function, count, result.size()));
  return result;
}

Quantity Call::quantity(std::string_view parameter) const {
  std::vector<Quantity> result = quantities(parameter);
  if (result.size() != 1) throw Refusal(fmt::format("{} of {} must be one number", parameter, node_.function));
  return result.front();
}

double Call::number(std::string_view parameter) const {
  const Quantity value = quantity(parameter);
  return value.values.empty() ? 0 : value.values.front().value;
}

namespace {
std::int64_t fixed(const Quantity& quantity, std::string_view parameter, const std::string& function) {
  if (quantity.values.empty()) throw Refusal("no sizes are given");
  for (const Number& value : quantity.values)
    if (value.real || value.integer != quantity.values.front().integer)
      throw Refusal(fmt::format("{} of {} must be one integer, the same at all sizes", parameter, function));
  return quantity.values.front().integer;
}
}  // namespace

std::int64_t Call::integer(std::string_view parameter) const { return fixed(quantity(parameter), parameter, node_.function); }

std::vector<std::int64_t> Call::integers(std::string_view parameter) const {
  std::vector<std::int64_t> result;
  for (const Quantity& each : quantities(parameter)) result.push_back(fixed(each, parameter, node_.function));
  return result;
}

std::vector<std::int64_t> Call::integers(std::string_view parameter, int count) const {
  std::vector<std::int64_t> result;
  for (const Quantity& each : quantities(parameter, count)) result.push_back(fixed(each, parameter, node_.function));
  return result;
}

int Call::axis(std::int64_t dim, int rank) {
  const int span = std::max(rank, 1);
  if (dim < -span || dim >= span) throw Refusal(fmt::format("dim {} is outside a tensor with {} dimension{}", dim, rank, rank == 1 ? "" : "s"));
  return static_cast<int>(dim < 0 ? dim + span : dim);
}

int Call::axis(std::string_view parameter, int rank) const { return axis(integer(parameter), rank); }

std::vector<int> Call::axes(std::string_view parameter, int rank) const {
  std::vector<int> result;
  for (const std::int64_t dim : integers(parameter)) result.push_back(axis(dim, rank));
  if (result.empty())
    for (int i = 0; i < rank; ++i) result.push_back(i);
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    throw Refusal(fmt::format("{} of {} names a dimension twice", parameter, node_.function));
  if (rank == 0) result.clear();
  return result;
}

Quantity Call::extent(int operand, int axis) const {
  return Quantity::of(type(operand).shape[static_cast<std::size_t>(axis)]);
}

bool is_one(const Extent& extent) {
  return std::all_of(extent.values.begin(), extent.values.end(), [](std::int64_t value) { return value == 1; });
}

int rank(const Type& type) { return static_cast<int>(type.shape.size()); }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Extent& extent : shape) {
    if (text.size() > 1) text += ", ";
    text += extent.text;
    if (!extent.values.empty() && extent.text != std::to_string(extent.values.front())) text += fmt::format(" = {}", extent.values.front());
  }
  return text + "]";
}

Shape broadcast(const std::vector<const Shape*>& shapes) {
  std::size_t rank = 0;
  for (const Shape* shape : shapes) rank = std::max(rank, shape->size());
  Shape result(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    bool first = true;
    Extent& into = result[axis];
    for (const Shape* shape : shapes) {
      if (axis + shape->size() < rank) continue;
      const Extent& from = (*shape)[axis + shape->size() - rank];
      if (first) {
        into = from;
        first = false;
        continue;
      }
      if (is_one(from)) continue;
      if (is_one(into)) {
        into = from;
        continue;
      }
      for (std::size_t i = 0; i < into.values.size(); ++i) {
        if (into.values[i] == from.values[i] || from.values[i] == 1) continue;
        if (into.values[i] != 1)
          throw Refusal(fmt::format("the shapes {} and {} do not fit: {} ({}) against {} ({})", to_string(*shapes.front()),
                                    to_string(*shape), into.text, into.values[i], from.text, from.values[i]));
        into.values[i] = from.values[i];
        into.text = from.text;
      }
      if (from == into && from.text.size() < into.text.size()) into.text = from.text;
    }
  }
  return result;
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_floating(a)) {
    if (a == Dtype::float64 || b == Dtype::float64) return Dtype::float64;
    return Dtype::float32;  // also of float16 with bfloat16
  }
  if (a == Dtype::bool_) return b;
  if (b == Dtype::bool_) return a;
  if (a == Dtype::uint8 || b == Dtype::uint8) {
    const Dtype other = a == Dtype::uint8 ? b : a;
    return other == Dtype::int8 ? Dtype::int16 : other;
  }
  return size_of(a) >= size_of(b) ? a : b;
}

namespace {
int category(Dtype dtype) { return dtype == Dtype::bool_ ? 0 : is_floating(dtype) ? 2 : 1; }
}  // namespace

Dtype promoted(const Call& call, const std::vector<int>& operands) {
  std::optional<Dtype> level[3];
  for (const int i : operands) {
    auto& slot = level[call.weak(i) ? 2 : call.type(i).shape.empty() ? 1 : 0];
    slot = slot ? promote(*slot, call.type(i).dtype) : call.type(i).dtype;
  }
  std::optional<Dtype> result;
  for (const auto& each : level) {
    if (!each) continue;
    if (!result || category(*each) > category(*result)) result = each;
  }
  return result.value_or(Dtype::float32);
}

}  // namespace cudal1::tensor
