// SPDX-License-Identifier: Apache-2.0
#include "tensor/function.hpp"

#include "base/text.hpp"
#include "tensor/lexer.hpp"

#include <cassert>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

Parameter::Kind kind_of(std::string_view word, bool optional) {
  using Kind = Parameter::Kind;
  if (word == "int") return Kind::integer;
  if (word == "ints") return Kind::integers;
  if (word == "number") return Kind::number;
  if (word == "truth") return Kind::truth;
  if (word == "word") return Kind::word;
  if (word == "dtype") return Kind::dtype;
  if (word == "tensors") return Kind::tensors;
  return optional ? Kind::optional_tensor : Kind::tensor;
}

Attribute default_value(Parameter::Kind kind, const Token& token, bool negative) {
  const int sign = negative ? -1 : 1;
  switch (token.kind) {
    case Token::Kind::integer:
      if (kind == Parameter::Kind::integers) return std::vector<std::int64_t>{sign * token.integer};
      return sign * token.integer;
    case Token::Kind::real: return sign * token.real;
    case Token::Kind::text: return std::string(token.text);
    default:
      if (token.word("True")) return true;
      if (token.word("False")) return false;
      return std::monostate{};
  }
}

// "name(a, b: int = 1, c: ints = None)". The rows are ours, so a mistake in one is an assertion.
Function read_signature(std::string_view signature) {
  Function function;
  const auto read = tokens(signature);
  assert(read.has_value());
  std::size_t at = 0;
  const std::vector<Token>& list = *read;
  function.name = std::string(list[at++].text);
  ++at;
  while (!list[at].is(")") && list[at].kind != Token::Kind::end) {
    if (list[at].is(",")) {
      ++at;
      continue;
    }
    Parameter parameter;
    parameter.name = std::string(list[at++].text);
    std::string_view word;
    if (list[at].is(":")) {
      word = list[at + 1].text;
      at += 2;
    }
    parameter.required = !list[at].is("=");
    parameter.kind = kind_of(word, !parameter.required);
    if (!parameter.required) {
      ++at;
      const bool negative = list[at].is("-");
      if (negative) ++at;
      parameter.value = default_value(parameter.kind, list[at++], negative);
    }
    function.parameters.push_back(std::move(parameter));
  }
  // The reader's signature leaves the kinds out.
  function.signature = function.name + "(";
  for (const Parameter& parameter : function.parameters) {
    if (function.signature.back() != '(') function.signature += ", ";
    function.signature += parameter.name;
    if (parameter.required) continue;
    function.signature += "=";
    if (const auto* i = std::get_if<std::int64_t>(&parameter.value)) function.signature += std::to_string(*i);
    else if (const auto* d = std::get_if<double>(&parameter.value)) function.signature += fmt::format("{}", *d);
    else if (const auto* b = std::get_if<bool>(&parameter.value)) function.signature += *b ? "True" : "False";
    else if (const auto* w = std::get_if<std::string>(&parameter.value)) function.signature += fmt::format("'{}'", *w);
    else if (const auto* l = std::get_if<std::vector<std::int64_t>>(&parameter.value)) function.signature += std::to_string(l->front());
    else function.signature += "None";
  }
  function.signature += ")";
  return function;
}

struct Table {
  std::vector<Row> rows;
  std::vector<Composite> composite_rows;
  std::vector<std::unique_ptr<Function>> functions;
  std::map<std::string, const Function*, std::less<>> canonical;
  std::map<std::string, const Function*, std::less<>> spelled;

  Table() {
    for (const auto& family : {pointwise_rows(), reduction_rows(), scan_rows(), shape_rows(), indexing_rows(), creation_rows(),
                               linear_algebra_rows(), attention_rows(), convolution_rows(), pooling_rows(),
                               normalization_rows(), loss_rows(), resampling_rows(), recurrence_rows()})
      rows.insert(rows.end(), family.begin(), family.end());
    composite_rows = composites();
    for (const Row& row : rows) add(row.signature, row.spellings).row = &row;
    for (const Composite& row : composite_rows) add(row.signature, row.spellings).composite = &row;
  }

  Function& add(std::string_view signature, std::string_view spellings) {
    functions.push_back(std::make_unique<Function>(read_signature(signature)));
    Function& function = *functions.back();
    canonical.emplace(function.name, &function);
    for (std::size_t at = 0; at < spellings.size();) {
      const std::size_t end = std::min(spellings.find(' ', at), spellings.size());
      const std::string_view word = spellings.substr(at, end - at);
      if (word == "torch" || word == "F")
        spelled.emplace(fmt::format("{}.{}", word, function.name), &function);
      else if (word == ".")
        spelled.emplace("." + function.name, &function);
      else if (!word.empty())
        spelled.emplace(std::string(word), &function);
      at = end + 1;
    }
    return function;
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const Array* Evaluation::operand(std::string_view parameter) const {
  const int i = call.index(parameter);
  return i < 0 ? nullptr : in[static_cast<std::size_t>(i)];
}

int operand_index(const Function& function, const Node& node, std::string_view parameter) {
  int index = 0;
  for (const Parameter& each : function.parameters) {
    const bool tensor = each.kind == Parameter::Kind::tensor || each.kind == Parameter::Kind::optional_tensor ||
                        each.kind == Parameter::Kind::tensors;
    const bool present = tensor && node.attributes.count(each.name) == 0;
    if (each.name == parameter) return present && index < static_cast<int>(node.operands.size()) ? index : -1;
    if (present) ++index;
  }
  return -1;
}

const Function* find_function(std::string_view canonical_name) {
  const auto found = table().canonical.find(canonical_name);
  return found == table().canonical.end() ? nullptr : found->second;
}

const Function* find_spelling(const std::string& spelling) {
  const auto found = table().spelled.find(spelling);
  return found == table().spelled.end() ? nullptr : found->second;
}

std::vector<std::string> all_spellings() {
  std::vector<std::string> result;
  for (const auto& [spelling, function] : table().spelled) result.push_back(spelling);
  return result;
}

std::vector<std::string> functions() {
  std::vector<std::string> result;
  for (const auto& function : table().functions) result.push_back(function->signature);
  return result;
}

NodeId operand(const Graph&, const Node& node, std::string_view parameter) {
  const Function* function = find_function(node.function);
  const int index = function == nullptr ? -1 : operand_index(*function, node, parameter);
  return index < 0 ? -1 : node.operands[static_cast<std::size_t>(index)];
}

}  // namespace cudal1::tensor
