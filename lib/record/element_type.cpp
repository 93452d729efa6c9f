// SPDX-License-Identifier: Apache-2.0
#include "record/element_type.hpp"

#include "kernel/source_lexer.hpp"

#include <string>

namespace cudal1::record {

namespace {

using kernel::SourceToken;

std::optional<tensor::Dtype> vector_type(std::string_view word, const kernel::TypeNames& names) {
  static const std::pair<std::string_view, tensor::Dtype> others[] = {
      {"half2", tensor::Dtype::float16},      {"__half2", tensor::Dtype::float16},      {"__nv_bfloat162", tensor::Dtype::bfloat16},
      {"nv_bfloat162", tensor::Dtype::bfloat16}, {"cuComplex", tensor::Dtype::float32}, {"cuFloatComplex", tensor::Dtype::float32},
      {"cuDoubleComplex", tensor::Dtype::float64}, {"float2", tensor::Dtype::float32}};
  for (const auto& [name, dtype] : others)
    if (name == word) return dtype;
  if (word.size() < 4 || word.back() < '1' || word.back() > '4') return std::nullopt;
  std::string base(word.substr(0, word.size() - 1));
  if (base == "longlong" || base == "ulonglong") base = base == "longlong" ? "long long" : "unsigned long long";
  if (const auto type = kernel::scalar_type(base, names)) return dtype_of(*type);
  return std::nullopt;
}

// The tokens between the braces of `struct NAME { … }` or `typedef struct { … } NAME`.
std::optional<std::pair<std::size_t, std::size_t>> members_of(const std::vector<SourceToken>& tokens, std::string_view name) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("{")) continue;
    const std::size_t close = kernel::matching_bracket(tokens, i);
    if (close >= tokens.size()) return std::nullopt;
    const bool tagged = i > 0 && tokens[i - 1].is(name);
    const bool aliased = close + 1 < tokens.size() && tokens[close + 1].is(name);
    if (tagged || aliased) return std::pair{i + 1, close};
  }
  return std::nullopt;
}

}  // namespace

tensor::Dtype dtype_of(const kernel::ScalarType& type) {
  using Kind = kernel::ScalarType::Kind;
  if (type.kind == Kind::floating) return type.floating;
  if (type.kind == Kind::boolean) return tensor::Dtype::bool_;
  if (type.size == 1) return type.kind == Kind::unsigned_integer ? tensor::Dtype::uint8 : tensor::Dtype::int8;
  return type.size == 2 ? tensor::Dtype::int16 : type.size == 4 ? tensor::Dtype::int32 : tensor::Dtype::int64;
}

std::optional<tensor::Dtype> element_type(std::string_view type, const kernel::TypeNames& names, std::string_view source) {
  if (const auto scalar = kernel::scalar_type(type, names)) return dtype_of(*scalar);
  const std::string word = kernel::unknown_type(type, names);
  if (const auto vector = vector_type(word, names)) return vector;
  const std::vector<SourceToken> tokens = kernel::lex_code(source);
  const auto members = members_of(tokens, word);
  if (!members) return std::nullopt;
  std::optional<tensor::Dtype> all;
  for (std::size_t from = members->first; from < members->second;) {
    std::size_t to = from;
    bool function = false;
    while (to < members->second && !tokens[to].is(";") && !tokens[to].is("}")) {
      function |= tokens[to].is("(");
      if (tokens[to].is("{")) to = kernel::matching_bracket(tokens, to);
      else ++to;
    }
    if (!function && to > from + 1) {
      // "float x, y" and "float rows[4]": the type is what stands before the first declarator.
      std::size_t end = from;
      while (end + 1 < to && !tokens[end + 1].is(",") && !tokens[end + 1].is("[") && !tokens[end + 1].is("=")) ++end;
      if (tokens[end].is("*")) return tensor::Dtype::int64;
      const std::string text = kernel::source_text(source, tokens, from, end);
      std::optional<tensor::Dtype> one;
      if (const auto scalar = kernel::scalar_type(text, names)) one = dtype_of(*scalar);
      else one = vector_type(kernel::unknown_type(text, names), names);
      if (!one) return std::nullopt;
      if (all && *all != *one) return std::nullopt;
      all = one;
    }
    from = to + 1;
  }
  return all;
}

}  // namespace cudal1::record
