// SPDX-License-Identifier: Apache-2.0
// What a call of the torch line is given, as its lowering asks for it.
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::algebra {

int Lowering::operand(std::string_view parameter) const {
  const int id = tensor::operand(graph_, *source_, parameter);
  return id < 0 ? -1 : lowered_[static_cast<std::size_t>(id)];
}

std::vector<int> Lowering::operands() const {
  std::vector<int> result;
  for (int id : source_->operands) result.push_back(lowered_[static_cast<std::size_t>(id)]);
  return result;
}

const tensor::Type& Lowering::type_of(std::string_view parameter) const {
  return types_[static_cast<std::size_t>(tensor::operand(graph_, *source_, parameter))];
}

bool Lowering::given(std::string_view attribute) const {
  const auto found = source_->attributes.find(std::string(attribute));
  return found != source_->attributes.end() && !std::holds_alternative<std::monostate>(found->second);
}

bool Lowering::truth(std::string_view attribute) const {
  const auto found = source_->attributes.find(std::string(attribute));
  const bool* value = found == source_->attributes.end() ? nullptr : std::get_if<bool>(&found->second);
  return value != nullptr && *value;
}

double Lowering::number(std::string_view attribute) const {
  const auto found = source_->attributes.find(std::string(attribute));
  if (found != source_->attributes.end()) {
    if (const auto* real = std::get_if<double>(&found->second)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*integer);
  }
  throw NotCovered{fmt::format("{} of torch.{} is not a plain number", attribute, source_->function)};
}

std::int64_t Lowering::integer(std::string_view attribute) const {
  return static_cast<std::int64_t>(std::llround(number(attribute)));
}

std::string Lowering::word(std::string_view attribute) const {
  const auto found = source_->attributes.find(std::string(attribute));
  const std::string* text = found == source_->attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

std::vector<std::int64_t> Lowering::integers(std::string_view attribute, std::size_t count) const {
  const auto found = source_->attributes.find(std::string(attribute));
  if (found == source_->attributes.end())
    throw NotCovered{fmt::format("torch.{} has no {}", source_->function, attribute)};
  std::vector<std::int64_t> result;
  if (const auto* one = std::get_if<std::int64_t>(&found->second)) result = {*one};
  else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) result = *list;
  if (result.size() == 1) result.resize(count, result[0]);
  if (result.size() != count)
    throw NotCovered{fmt::format("{} of torch.{} is not made of plain integers", attribute, source_->function)};
  return result;
}

std::vector<tensor::Extent> Lowering::extents(std::string_view attribute, std::size_t count) const {
  const auto found = source_->attributes.find(std::string(attribute));
  auto result = found == source_->attributes.end() ? std::vector<tensor::Extent>{} : tensor::resolve(graph_, types_, found->second, sizes_);
  if (result.size() == 1 && count > 0) result.resize(count, result[0]);
  if (result.empty() || (count > 0 && result.size() != count)) throw NotCovered{fmt::format("{} of torch.{} is not made of integers", attribute, source_->function)};
  return result;
}

std::vector<int> Lowering::order(std::string_view attribute, std::size_t rank) const {
  std::vector<int> result;
  const auto found = source_->attributes.find(std::string(attribute));
  if (found == source_->attributes.end() || std::holds_alternative<std::monostate>(found->second)) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<int>(i));
    return result;
  }
  std::vector<std::int64_t> list;
  if (const auto* one = std::get_if<std::int64_t>(&found->second)) list = {*one};
  else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&found->second)) list = *many;
  else throw NotCovered{fmt::format("{} of torch.{} is not made of plain integers", attribute, source_->function)};
  for (std::int64_t dim : list)
    result.push_back(static_cast<int>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim));
  if (list.empty())
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<int>(i));
  return result;
}

std::vector<int> Lowering::axes(std::string_view attribute, std::size_t rank) const {
  std::vector<int> result = order(attribute, rank);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace cudal1::algebra
