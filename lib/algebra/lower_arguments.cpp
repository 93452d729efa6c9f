// SPDX-License-Identifier: Apache-2.0
// What a call of the torch line is given, as its lowering asks for it.
#include "algebra/lowering.hpp"

#include "algebra/not_covered.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

template <typename Value>
const Value* Lowering::attribute(std::string_view name) const {
  const auto found = source_->attributes.find(std::string(name));
  return found == source_->attributes.end() ? nullptr : std::get_if<Value>(&found->second);
}

bool Lowering::given(std::string_view name) const {
  return source_->attributes.count(std::string(name)) != 0 && attribute<std::monostate>(name) == nullptr;
}

bool Lowering::truth(std::string_view name) const {
  const bool* value = attribute<bool>(name);
  return value != nullptr && *value;
}

double Lowering::number_of(std::string_view name) const {
  if (const auto* real = attribute<double>(name)) return *real;
  if (const auto* integer = attribute<std::int64_t>(name)) return static_cast<double>(*integer);
  throw NotCovered{fmt::format("{} of torch.{} is not a plain number", name, source_->function)};
}

std::int64_t Lowering::integer(std::string_view name) const { return std::llround(number_of(name)); }

std::string Lowering::word(std::string_view name) const {
  const auto* text = attribute<std::string>(name);
  return text == nullptr ? "" : *text;
}

std::vector<std::int64_t> Lowering::integers(std::string_view name, std::size_t count) const {
  if (source_->attributes.count(std::string(name)) == 0) throw NotCovered{fmt::format("torch.{} has no {}", source_->function, name)};
  std::vector<std::int64_t> result;
  if (const auto* one = attribute<std::int64_t>(name)) result = {*one};
  else if (const auto* list = attribute<std::vector<std::int64_t>>(name)) result = *list;
  if (result.size() == 1) result.resize(count, result[0]);
  if (result.size() != count) throw NotCovered{fmt::format("{} of torch.{} is not made of plain integers", name, source_->function)};
  return result;
}

std::vector<tensor::Extent> Lowering::extents(std::string_view attribute, std::size_t count) const {
  const auto found = source_->attributes.find(std::string(attribute));
  auto result = found == source_->attributes.end() ? std::vector<tensor::Extent>{} : tensor::resolve(graph_, types_, found->second, sizes_);
  if (result.size() == 1 && count > 0) result.resize(count, result[0]);
  if (result.empty() || (count > 0 && result.size() != count)) throw NotCovered{fmt::format("{} of torch.{} is not made of integers", attribute, source_->function)};
  return result;
}

std::vector<int> Lowering::order(std::string_view name, std::size_t rank) const {
  std::vector<std::int64_t> list;
  if (const auto* one = attribute<std::int64_t>(name)) list = {*one};
  else if (const auto* many = attribute<std::vector<std::int64_t>>(name)) list = *many;
  else if (given(name)) throw NotCovered{fmt::format("{} of torch.{} is not made of plain integers", name, source_->function)};
  std::vector<int> result(list.empty() ? rank : list.size());
  std::iota(result.begin(), result.end(), 0);
  for (std::size_t i = 0; i < list.size(); ++i) result[i] = static_cast<int>(list[i] < 0 ? list[i] + static_cast<std::int64_t>(rank) : list[i]);
  return result;
}

std::vector<int> Lowering::axes(std::string_view attribute, std::size_t rank) const {
  std::vector<int> result = order(attribute, rank);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace cudal1::algebra
