// SPDX-License-Identifier: Apache-2.0
#include "kernel/constant_values.hpp"

#include "kernel/drafted_shape.hpp"
#include "kernel/element_type.hpp"
#include "kernel/kernel_source.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::kernel {

namespace {

constexpr std::int64_t most_values = 16384;  // float64: twice what constant memory holds

// `__constant__ float taps[4];`: its words, its name and the token of its semicolon.
struct Declared {
  std::string type, name;
  std::size_t name_at = 0, end = 0;
  bool array = false;
};

std::optional<Declared> declared_at(const KernelSource& source, std::size_t at) {
  Declared result;
  std::size_t i = at;
  for (; !source.token(i).is(";") && !source.token(i).is("["); ++i) {
    const SourceToken& token = source.token(i);
    if (token.text.empty() || token.is("=") || token.is("{") || token.is("(") || token.is(",") || token.is("*") || token.is("<")) return std::nullopt;
  }
  result.name_at = i - 1;
  result.name = std::string(source.token(i - 1).text);
  std::size_t from = at;
  for (std::size_t k = at; k + 1 < i; ++k)
    if (source.token(k).is("__constant__") || source.token(k).is("static") || source.token(k).is("const") || source.token(k).is("__device__")) from = k + 1;
  if (from + 1 >= i) return std::nullopt;
  result.type = source.text(from, i - 1);
  result.array = source.token(i).is("[");
  while (source.token(i).is("[")) i = matching_bracket(source.tokens(), i) + 1;
  if (!source.token(i).is(";")) return std::nullopt;
  result.end = i;
  return result;
}

// How many elements it has, where that is a number.
std::optional<std::int64_t> count_of(const KernelSource& expanded, const std::string& name) {
  const auto& tokens = expanded.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    const auto declared = declared_at(expanded, i);
    if (!declared || declared->name != name) continue;
    std::int64_t count = 1;
    for (std::size_t k = declared->name_at + 1; expanded.token(k).is("["); k = matching_bracket(tokens, k) + 1) {
      const auto extent = expanded.literal(k + 1, matching_bracket(tokens, k), {});
      if (!extent || *extent <= 0 || *extent > most_values) return std::nullopt;
      count *= *extent;
    }
    return count <= most_values ? std::optional(count) : std::nullopt;
  }
  return std::nullopt;
}

// Small, of both signs where the type has them, none of them zero, and the same each time.
std::string whole_value(tensor::Dtype dtype, bool is_unsigned, std::int64_t i) {
  const std::int64_t turn = i * 5 % 13 + 1;
  if (dtype == tensor::Dtype::bool_) return i % 2 == 0 ? "true" : "false";
  return fmt::format("{}", is_unsigned || i % 2 == 0 ? turn % 4 + 1 : -(turn % 4) - 1);
}

}  // namespace

std::vector<std::string> constant_variables(const std::string& code) {
  std::vector<std::string> names;
  const auto tokens = lex_code(code);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    // The name stands in front of its extents, its initialiser or the end.
    for (std::size_t k = i + 1; k < tokens.size(); ++k) {
      if (!tokens[k].is("[") && !tokens[k].is("=") && !tokens[k].is("{") && !tokens[k].is(";")) continue;
      if (tokens[k - 1].kind == SourceToken::Kind::identifier) names.emplace_back(tokens[k - 1].text);
      break;
    }
  }
  return names;
}

std::string with_constant_values(const std::string& code, const KernelSource& expanded, const TypeNames& aliases, FilledConstants& filled) {
  if (code.find("__constant__") == std::string::npos) return code;
  const KernelSource source(code);
  const auto& tokens = source.tokens();
  std::string result;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__") || tokens[i].offset < copied) continue;
    const auto declared = declared_at(source, i);
    if (!declared) continue;
    const auto dtype = dtype_of(declared->type, aliases);
    const auto count = count_of(expanded, declared->name);
    if (!dtype || !count || *dtype == tensor::Dtype::float16 || *dtype == tensor::Dtype::bfloat16) continue;
    if (declared->array && tensor::is_floating(*dtype)) {
      filled.arrays.push_back({declared->name, *dtype, *count});
      continue;
    }
    const auto scalar = scalar_type(declared->type, aliases);
    const bool is_unsigned = scalar && scalar->kind == ScalarType::Kind::unsigned_integer;
    std::string values;
    if (!declared->array) {
      values = tensor::is_floating(*dtype) ? guessed_real(declared->name) : fmt::format("{}", guessed_size(declared->name, 1));
    } else {
      std::vector<std::string> list;
      for (std::int64_t k = 0; k < *count; ++k) list.push_back(whole_value(*dtype, is_unsigned, k));
      values = fmt::format("{{{}}}", fmt::join(list, ", "));
    }
    const std::size_t semicolon = tokens[declared->end].offset;
    result += code.substr(copied, semicolon - copied) + " = " + values + ";  // guessed: host code fills it\n";
    copied = semicolon + 1;
    while (copied < code.size() && (code[copied] == ' ' || code[copied] == '\t')) ++copied;
    if (copied < code.size() && code[copied] == '\n') ++copied;
    filled.values.push_back(declared->name);
  }
  return result + code.substr(copied);
}

}  // namespace cudal1::kernel
