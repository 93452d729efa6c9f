// SPDX-License-Identifier: Apache-2.0
#include "record/element_type.hpp"

#include "kernel/source_lexer.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
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

}  // namespace

std::optional<tensor::Dtype> element_type(std::string_view type, const kernel::TypeNames& names, std::string_view source) {
  if (const auto scalar = kernel::scalar_type(type, names)) return dtype_of(*scalar);
  const std::string word = kernel::unknown_type(type, names);
  if (const auto vector = vector_type(word, names)) return vector;
  const std::vector<SourceToken> tokens = kernel::lex_code(source);
  const auto members = kernel::members_of(tokens, word);
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

std::optional<tensor::Dtype> member_element_type(std::string_view structure, std::size_t offset, const kernel::TypeNames& names, std::string_view source) {
  const std::vector<SourceToken> tokens = kernel::lex_code(source);
  const auto members = kernel::members_of(tokens, kernel::unknown_type(structure, names));
  if (!members) return std::nullopt;
  std::size_t at = 0;
  for (std::size_t from = members->first; from < members->second;) {
    std::size_t to = from;
    while (to < members->second && !tokens[to].is(";")) ++to;
    while (from < to && (tokens[from].is("public") || tokens[from].is("private") || tokens[from].is(":") || tokens[from].is("const") || tokens[from].is("volatile"))) ++from;
    const std::size_t first = from;
    from = to + 1;
    if (first + 1 >= to || tokens[first].is("using") || tokens[first].is("typedef") || tokens[first].is("static")) continue;
    // The type ends before the first star, or before the name.
    std::size_t end = first;
    while (end + 1 < to && !tokens[end + 1].is("*") && !tokens[end + 1].is(",") && !tokens[end + 1].is("[") && !tokens[end + 1].is("=") && !tokens[end].is("(")) ++end;
    if (tokens[end].is("(")) return std::nullopt;  // a function: what follows cannot be told
    const bool starred = end + 1 < to && tokens[end + 1].is("*");
    const std::size_t type_end = starred ? end + 1 : end;
    const std::string type = kernel::source_text(source, tokens, first, type_end);
    for (std::size_t k = type_end; k < to;) {
      bool pointer = false;
      std::size_t count = 1;
      for (; k < to && !tokens[k].is(","); ++k) {
        pointer |= tokens[k].is("*");
        if (tokens[k].is("[") && k + 1 < to && tokens[k + 1].kind == SourceToken::Kind::number) count *= std::strtoul(std::string(tokens[k + 1].text).c_str(), nullptr, 0);
      }
      ++k;
      std::size_t size = 8, alignment = 8;
      if (!pointer) {
        const auto scalar = kernel::scalar_type(type, names);
        if (!scalar) return std::nullopt;
        size = alignment = scalar->size;
      }
      at = (at + alignment - 1) / alignment * alignment;
      if (pointer && offset >= at && offset < at + size * count) return element_type(type, names, source);
      at += size * count;
      if (at > offset) return std::nullopt;
    }
  }
  return std::nullopt;
}

tensor::Dtype likely_type(std::span<const std::byte> bytes) {
  std::size_t numbers = 0, others = 0;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word == 0) continue;
    const std::uint32_t exponent = word >> 23 & 0xff;
    constexpr std::uint32_t least = 127 - 40, most = 127 + 40;  // 1e-12 to 1e12
    ++(exponent >= least && exponent <= most ? numbers : others);
  }
  return numbers > 9 * others ? tensor::Dtype::float32 : tensor::Dtype::int32;
}

}  // namespace cudal1::record
