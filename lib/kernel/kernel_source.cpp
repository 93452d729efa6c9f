// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_source.hpp"

#include "kernel/expression.hpp"

#include <algorithm>

namespace cudal1::kernel {

KernelSource::KernelSource(std::string_view source) : source_(source), tokens_(lex_code(source)) {
  for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
    if (tokens_[i].kind != SourceToken::Kind::identifier) continue;
    if (tokens_[i + 1].is("=")) assigned_.emplace(tokens_[i].text, i);
    const SourceToken& before = tokens_[i - 1];
    const bool typed = before.kind == SourceToken::Kind::identifier || before.is("*") || before.is("&") || before.is(">");
    if (typed && tokens_[i + 1].is("(") && token(matching_bracket(tokens_, i + 1) + 1).is("{")) defined_.emplace(tokens_[i].text, i);
  }
}

const SourceToken& KernelSource::token(std::size_t i) const {
  static const SourceToken none;
  return i < tokens_.size() ? tokens_[i] : none;
}

std::optional<FunctionText> KernelSource::function_at(std::size_t i) const {
  if (!token(i + 1).is("(")) return std::nullopt;
  const std::size_t close = matching_bracket(tokens_, i + 1);
  if (close >= tokens_.size() || !token(close + 1).is("{")) return std::nullopt;
  FunctionText function;
  function.body_from = close + 2;
  function.body_to = std::min(matching_bracket(tokens_, close + 1), tokens_.size());
  std::string name;
  bool pointer = false, fallback = false, half = false;
  int depth = 0;
  for (std::size_t k = i + 2; k <= close; ++k) {
    if (token(k).is("<")) ++depth;
    if (token(k).is(">")) --depth;
    if (k == close || (token(k).is(",") && depth <= 0)) {
      if (!name.empty()) function.parameters.emplace_back(name, pointer);
      if (half && pointer) function.halves.insert(name);
      name.clear();
      pointer = fallback = half = false;
      continue;
    }
    if (token(k).is("=")) fallback = true;
    if (fallback) continue;
    if (token(k).is("*") || token(k).is("[")) pointer = true;
    half |= token(k).is("half") || token(k).is("__half") || token(k).is("nv_bfloat16") || token(k).is("__nv_bfloat16");
    if (token(k).kind == SourceToken::Kind::identifier) name = std::string(token(k).text);
  }
  return function;
}

std::optional<FunctionText> KernelSource::kernel(std::string_view name) const {
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (!tokens_[i].is(name)) continue;
    auto function = function_at(i);
    if (!function) continue;
    bool global = false;
    for (std::size_t k = i; k-- > 0 && i - k < 40 && !tokens_[k].is(";") && !tokens_[k].is("}");) global |= tokens_[k].is("__global__");
    if (global) return function;
  }
  return std::nullopt;
}

std::optional<FunctionText> KernelSource::device_function(std::string_view name, std::size_t parameters) const {
  for (auto [at, end] = defined_.equal_range(name); at != end; ++at)
    if (auto function = function_at(at->second); function && function->parameters.size() >= parameters) return function;
  return std::nullopt;
}

bool KernelSource::names(const FunctionText& function, std::string_view name, std::string_view axis) const {
  for (std::size_t i = function.body_from; i + 2 < function.body_to; ++i)
    if (tokens_[i].is(name) && tokens_[i + 1].is(".") && tokens_[i + 2].is(axis)) return true;
  return false;
}

std::optional<std::int64_t> KernelSource::literal(std::size_t from, std::size_t to, const std::map<std::string, Polynomial>& constants) const {
  const auto expression = Expression::parse(text(from, to));
  if (!expression) return std::nullopt;
  Environment values;
  for (const std::string& name : expression->names()) {
    const auto known = constants.find(name);
    const auto value = known == constants.end() ? constant(name) : known->second.value();
    if (!value) return std::nullopt;
    values[name] = *value;
  }
  const auto value = expression->evaluate_integer(values);
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

std::optional<std::int64_t> KernelSource::constant(std::string_view name) const {
  for (auto [at, end] = assigned_.equal_range(name); at != end; ++at) {
    const std::size_t i = at->second;
    if (tokens_[i - 1].kind != SourceToken::Kind::identifier) continue;
    std::size_t begin = i;
    while (begin > 0 && tokens_[begin - 1].kind == SourceToken::Kind::identifier) --begin;
    bool is_constant = false;
    for (std::size_t k = begin; k < i; ++k) is_constant |= tokens_[k].is("const") || tokens_[k].is("constexpr");
    std::size_t to = i + 2;
    while (to < tokens_.size() && !tokens_[to].is(";") && !tokens_[to].is(",")) ++to;
    if (!is_constant) continue;
    const auto expression = Expression::parse(text(i + 2, to));
    if (!expression || !expression->names().empty()) continue;
    const auto value = expression->evaluate_integer({});
    if (value) return *value;
  }
  return std::nullopt;
}

std::size_t KernelSource::statement_end(std::size_t i) const {
  while (i < tokens_.size() && !tokens_[i].is(";") && !tokens_[i].is("}")) {
    if (tokens_[i].is("(") || tokens_[i].is("{") || tokens_[i].is("[")) i = matching_bracket(tokens_, i);
    ++i;
  }
  return std::min(i, tokens_.size());
}

bool KernelSource::leaves(std::size_t i) const {
  if (tokens_[i].is("{")) {
    const std::size_t close = matching_bracket(tokens_, i);
    for (std::size_t k = i + 1; k < close; ++k) {
      if (tokens_[k].is("{") || tokens_[k].is("(")) k = matching_bracket(tokens_, k);
      else if (tokens_[k].is("return") || tokens_[k].is("continue") || tokens_[k].is("break")) return true;
    }
    return false;
  }
  return token(i).is("return") || token(i).is("continue") || token(i).is("break");
}

std::size_t KernelSource::loop_end(std::size_t body) const {
  if (token(body).is("{")) return matching_bracket(tokens_, body);
  if (token(body).is("for") || token(body).is("while") || token(body).is("if")) {
    const std::size_t close = matching_bracket(tokens_, body + 1);
    return loop_end(close + 1);
  }
  return statement_end(body);
}

}  // namespace cudal1::kernel
