// SPDX-License-Identifier: Apache-2.0
#include "algebra/lower.hpp"

#include "algebra/dag.hpp"
#include "algebra/lowering.hpp"
#include "algebra/pointwise.hpp"
#include "algebra/rule.hpp"
#include "tensor/infer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

namespace cudal1::algebra {
namespace {

using tensor::Attribute;

const std::map<std::string, std::function<int(Lowering&)>>& rows() {
  static const auto all = [] {
    std::map<std::string, std::function<int(Lowering&)>> result;
    for (const auto& family : {pointwise_lowerings, reduction_lowerings, product_lowerings, window_lowerings, place_lowerings})
      for (const LoweringRow& row : family()) result.emplace(row.function, row.lower);
    return result;
  }();
  return all;
}

std::size_t assignments_of(const std::vector<tensor::Type>& types) {
  std::size_t result = 1;
  for (const tensor::Type& type : types)
    for (const tensor::Extent& extent : type.shape) result = std::max(result, extent.values.size());
  return result;
}

}  // namespace

Lowering::Lowering(Dag& dag, const tensor::Graph& graph, const std::vector<tensor::Type>& types, const std::vector<tensor::Sizes>& sizes, const LowerOptions& options)
    : Builder(dag, assignments_of(types)), graph_(graph), types_(types), sizes_(sizes), options_(options) {}

// Numbers in sizes are written in Python; "$3.shape[0]" is an extent of a tensor.
std::string Lowering::number_text(const std::string& python) const {
  std::vector<std::map<std::string, tensor::Number>> values;
  for (const tensor::Sizes& each : sizes_) {
    values.emplace_back();
    for (const auto& [name, value] : each) values.back().emplace(name, tensor::Number::of(value));
  }
  return tensor::read_size_text(python, tensor::names_of(values, types_)).items.at(0).text;
}

void Lowering::run() {
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    source_ = &graph_.nodes[i];
    type_ = &types_[i];
    lowered_.push_back(lower(*source_));
  }
  for (const auto& [name, id] : graph_.outputs)
    dag_.outputs.emplace_back(name, rounded(lowered_[static_cast<std::size_t>(id)], types_[static_cast<std::size_t>(id)].dtype));
}

// An output in 16 bits; what stands before it keeps its values wide.
int Lowering::rounded(int operand, tensor::Dtype dtype) {
  Node node = at(operand);
  if (node.dtype == dtype || dtype == wide(dtype)) return operand;
  if (node.is<Reshape>() || node.is<Permute>()) {
    node.operands[0] = rounded(node.operands[0], dtype);
  } else {
    node = {Pointwise{"identity"}, {operand}, dtype, at(operand).shape};
  }
  node.dtype = dtype;
  return add(std::move(node));
}

int Lowering::lower(const tensor::Node& node) {
  if (node.function == "input") {
    return add({Input{std::get<std::string>(node.attributes.at("name"))}, {}, type_->dtype, type_->shape});
  }
  if (node.function == "constant") {
    const Attribute& value = node.attributes.at("value");
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return add({Number{std::to_string(*integer)}, {}, tensor::Dtype::int64});
    if (const auto* real = std::get_if<double>(&value)) return literal_number(*real);
    if (const auto* is = std::get_if<bool>(&value)) return add({Number{*is ? "1" : "0"}, {}, tensor::Dtype::bool_});
    if (const auto* text = std::get_if<tensor::SizeText>(&value)) {
      if (const auto extent = tensor::resolve(graph_, types_, value, sizes_); extent.size() == 1) return number(extent[0], type_->dtype);
      return add({Number{number_text(text->text)}, {}, type_->dtype});
    }
    throw NotCovered{"a constant that is no number"};
  }
  if (const auto row = rows().find(node.function); row != rows().end()) return row->second(*this);
  const PointwiseFunction* function = find_pointwise(node.function);
  if (function != nullptr) {
    std::vector<int> list = operands();
    std::istringstream numbers{std::string(function->numbers)};
    for (std::string name; numbers >> name;) list.push_back(given_number(name));
    if (static_cast<std::size_t>(function->operands) == list.size()) return pointwise(node.function, list, type_->dtype);
  }
  throw NotCovered{fmt::format("torch.{} is not covered by the playbook", node.function)};
}

int Lowering::literal_number(double value, tensor::Dtype dtype) {
  if (std::isnan(value)) throw NotCovered{"a constant that is no number"};
  return add({Number{fmt::format("{}", value)}, {}, dtype});
}

int Lowering::coordinate(const tensor::Extent& extent, std::size_t dim, std::size_t rank) {
  tensor::Shape shape(rank, one());
  shape[dim] = extent;
  return add({Coordinate{}, {}, tensor::Dtype::int64, std::move(shape)});
}

int Lowering::mean(int operand, const std::vector<int>& dims) {
  const int total = sum(operand, dims);
  return pointwise("div", {total, number(count(operand, dims), at(operand).dtype)});
}

int Lowering::log_sum_exp(int operand, const std::vector<int>& dims) {
  const int largest = reduce("max", operand, dims);
  const int powers = sum(pointwise("exp", {pointwise("sub", {operand, largest})}), dims);
  return pointwise("add", {pointwise("log", {powers}), largest});
}

int Lowering::expand(int operand, const tensor::Shape& shape) {
  if (at(operand).shape == shape) return operand;
  return add({Pointwise{"identity"}, {operand}, at(operand).dtype, shape});
}

int Lowering::slice(int operand, std::size_t dim, const tensor::Extent& start, const tensor::Extent& extent, int step) {
  tensor::Shape shape = at(operand).shape;
  if (step == 1 && shape[dim] == extent) return operand;
  Slice part{tensor::Shape(shape.size(), literal(0, assignments_)), std::vector<int>(shape.size(), 1)};
  shape[dim] = extent;
  part.starts[dim] = start;
  part.steps[dim] = step;
  return add({std::move(part), {operand}, at(operand).dtype, std::move(shape)});
}

int Lowering::as(int operand, tensor::Dtype dtype) {
  const Node node = at(operand);
  if (node.dtype == dtype || node.dtype == wide(dtype)) return operand;
  // A factor is turned where it is read, not where it is cast.
  if (node.is<Permute>()) return permute(as(node.operands[0], dtype), node.as<Permute>().dims);
  return pointwise("identity", {operand}, dtype);
}

int Lowering::cat(const std::vector<int>& operands, std::size_t dim) {
  Node node{Cat{static_cast<int>(dim)}};
  for (int operand : operands) {
    const tensor::Extent& extent = at(operand).shape[dim];
    if (is_zero(extent)) continue;
    if (std::any_of(extent.values.begin(), extent.values.end(), [](std::int64_t value) { return value <= 0; }))
      throw NotCovered{"a part that is empty at some sizes"};
    if (node.operands.empty()) node.shape = at(operand).shape, node.dtype = at(operand).dtype;
    else node.shape[dim] = plus(node.shape[dim], extent);
    node.operands.push_back(operand);
  }
  return node.operands.size() == 1 ? node.operands[0] : add(std::move(node));
}

int Lowering::squeeze(int operand, const std::vector<int>& dims, bool keep) {
  if (keep) return operand;
  tensor::Shape shape;
  for (std::size_t i = 0; i < at(operand).shape.size(); ++i)
    if (std::find(dims.begin(), dims.end(), static_cast<int>(i)) == dims.end()) shape.push_back(at(operand).shape[i]);
  return reshape(operand, shape);
}

int Lowering::product(int a, int b) {
  a = as(a, wide(at(a).dtype));
  b = as(b, wide(at(b).dtype));
  if (at(a).shape.size() > 2 && at(b).shape.size() == 2) {
    // One matrix for a whole batch: the batch is more rows.
    tensor::Shape shape = at(a).shape;
    const int rows = reshape(a, {product_of(shape, 0, shape.size() - 1, assignments_), shape.back()});
    shape.back() = at(b).shape.back();
    return reshape(product(rows, b), shape);
  }
  const tensor::Shape left = at(a).shape, right = at(b).shape;
  // A product with a vector is bound by memory: a reduction of the larger factor.
  if (tensor::is_one(right.back())) {
    const int terms = pointwise("mul", {a, swap_last(b)});
    return sum(terms, {static_cast<int>(at(terms).shape.size()) - 1});
  }
  if (tensor::is_one(left[left.size() - 2])) {
    const int terms = pointwise("mul", {swap_last(a), b});
    return sum(terms, {static_cast<int>(at(terms).shape.size()) - 2});
  }
  Node node{Product{}, {a, b}, at(a).dtype, broadcast(dag_, {a, b}, assignments_)};
  const std::size_t rank = node.shape.size();
  node.shape[rank - 2] = left[left.size() - 2];
  node.shape[rank - 1] = right.back();
  // A family takes factors that have all batch dimensions or none.
  const bool shared = batches_of(node.shape, left) == Batches::some || batches_of(node.shape, right) == Batches::some;
  return shared ? reshape(shared_batches(*this, a, b), node.shape) : add(node);
}

tl::expected<Dag, std::string> lower(const tensor::Graph& graph, const std::vector<tensor::Type>& types, const std::vector<tensor::Sizes>& sizes,
                                     const LowerOptions& options) {
  try {
    Dag dag;
    Lowering(dag, graph, types, sizes, options).run();
    return tidy(dag);  // without what an attention that was spelt out has replaced
  } catch (const NotCovered& refusal) {
    return tl::unexpected(refusal.reason);
  }
}

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
