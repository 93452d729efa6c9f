// SPDX-License-Identifier: Apache-2.0
#include "kernel/element_type.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

namespace cudal1::kernel {

std::optional<tensor::Dtype> dtype_of(const std::string& type, const TypeNames& names) {
  const auto scalar = scalar_type(type, names);
  if (!scalar) return std::nullopt;
  if (scalar->kind == ScalarType::Kind::floating) return scalar->floating;
  if (scalar->kind == ScalarType::Kind::boolean) return tensor::Dtype::bool_;
  if (scalar->size == 1) return scalar->kind == ScalarType::Kind::unsigned_integer ? tensor::Dtype::uint8 : tensor::Dtype::int8;
  return scalar->size == 2 ? tensor::Dtype::int16 : scalar->size == 4 ? tensor::Dtype::int32 : tensor::Dtype::int64;
}

std::optional<std::pair<tensor::Dtype, std::int64_t>> elements_of(const std::string& type, const std::string& source, const std::vector<SourceToken>& tokens, const TypeNames& aliases) {
  using D = tensor::Dtype;
  static const std::map<std::string, std::pair<D, std::int64_t>, std::less<>> vectors = {
      {"float2", {D::float32, 2}}, {"float3", {D::float32, 3}}, {"float4", {D::float32, 4}}, {"double2", {D::float64, 2}}, {"double4", {D::float64, 4}},
      {"int2", {D::int32, 2}},     {"int3", {D::int32, 3}},     {"int4", {D::int32, 4}},     {"uint2", {D::int32, 2}},     {"uint4", {D::int32, 4}},
      {"half2", {D::float16, 2}},  {"__half2", {D::float16, 2}}, {"nv_bfloat162", {D::bfloat16, 2}}, {"__nv_bfloat162", {D::bfloat16, 2}}, {"uchar4", {D::uint8, 4}},
      {"uchar3", {D::uint8, 3}},   {"char4", {D::int8, 4}},     {"short2", {D::int16, 2}}, {"longlong2", {D::int64, 2}}};
  if (const auto found = vectors.find(type); found != vectors.end()) return found->second;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("struct")) continue;
    std::size_t open = i + 1;
    while (open < tokens.size() && !tokens[open].is("{") && !tokens[open].is(";") && !tokens[open].is(")"))
      open = (tokens[open].is("(") ? matching_bracket(tokens, open) : open) + 1;  // an attribute's brackets: `struct __align__(8) Pair {`
    if (open >= tokens.size() || !tokens[open].is("{")) continue;
    const std::size_t close = matching_bracket(tokens, open);
    if (!tokens[open - 1].is(type) && !(close + 1 < tokens.size() && tokens[close + 1].is(type))) continue;
    std::optional<D> element;
    std::int64_t members = 0;
    std::size_t k = open + 1;
    while (k < close) {
      std::size_t end = k;
      while (end < close && !tokens[end].is(";")) ++end;
      std::size_t name = k;
      while (name + 1 < end && tokens[name + 1].kind == SourceToken::Kind::identifier) ++name;
      const auto dtype = dtype_of(source_text(source, tokens, k, name), aliases);
      if (!dtype || (element && *element != *dtype)) return std::nullopt;
      element = dtype;
      for (std::size_t m = name; m < end; ++m) {
        if (tokens[m].is("(") || tokens[m].is("*") || tokens[m].is("=")) return std::nullopt;
        if (tokens[m].is("[")) return std::nullopt;
        if (tokens[m].kind == SourceToken::Kind::identifier) ++members;
      }
      k = end + 1;
    }
    if (element && members > 0) return std::pair{*element, members};
    return std::nullopt;
  }
  return std::nullopt;
}

namespace {

// The tokens between the braces of `struct NAME { … }` or `typedef struct { … } NAME`.
std::optional<std::pair<std::size_t, std::size_t>> members_of(const std::vector<SourceToken>& tokens, std::string_view name) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("{")) continue;
    const std::size_t close = matching_bracket(tokens, i);
    if (close >= tokens.size()) return std::nullopt;
    const bool tagged = i > 0 && tokens[i - 1].is(name);
    const bool aliased = close + 1 < tokens.size() && tokens[close + 1].is(name);
    if (tagged || aliased) return std::pair{i + 1, close};
  }
  return std::nullopt;
}

// "float3" → three of 4 bytes that begin at multiples of 4; "float4" at multiples of 16.
struct MemberType {
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::size_t count = 1, alignment = 4;
};

std::optional<MemberType> member_type(std::string_view text, const TypeNames& names) {
  if (const auto dtype = dtype_of(std::string(text), names)) return MemberType{*dtype, 1, tensor::size_of(*dtype)};
  const auto vector = elements_of(unknown_type(text, names), "", {}, names);
  if (!vector) return std::nullopt;
  const auto count = static_cast<std::size_t>(vector->second);
  const std::size_t size = tensor::size_of(vector->first);
  return MemberType{vector->first, count, count == 3 ? size : std::min<std::size_t>(count * size, 16)};
}

// `__align__(16)` or `alignas(16)` between `struct` and the brace.
std::size_t declared_alignment(const std::vector<SourceToken>& tokens, std::size_t brace) {
  for (std::size_t i = brace; i-- > 0 && !tokens[i].is(";") && !tokens[i].is("}");)
    if ((tokens[i].is("__align__") || tokens[i].is("alignas")) && tokens[i + 1].is("(") && tokens[i + 2].kind == SourceToken::Kind::number)
      return std::strtoul(std::string(tokens[i + 2].text).c_str(), nullptr, 0);
  return 1;
}

// Takes `float x, y` or `int ids[4]` into the structure; false where it is none of what a task can say.
bool add_members(Structure& structure, std::size_t& alignment, std::string_view source, const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to,
                 const TypeNames& names) {
  std::size_t end = from;
  while (end + 1 < to && !tokens[end + 1].is(",") && !tokens[end + 1].is("[") && !tokens[end + 1].is("=")) ++end;
  const auto type = member_type(source_text(source, tokens, from, end), names);
  if (!type) return false;
  for (std::size_t k = end; k < to; ++k) {
    if (tokens[k].kind != SourceToken::Kind::identifier) return false;
    Structure::Member member{std::string(tokens[k].text), type->dtype, type->count > 1 ? static_cast<std::int64_t>(type->count) : 0, 0};
    for (++k; k < to && !tokens[k].is(","); ++k) {
      if (tokens[k].is("=")) {
        while (k + 1 < to && !tokens[k + 1].is(",")) ++k;
        continue;
      }
      if (!tokens[k].is("[") || k + 2 >= to || tokens[k + 1].kind != SourceToken::Kind::number || !tokens[k + 2].is("]")) return false;
      const auto extent = static_cast<std::int64_t>(std::strtoul(std::string(tokens[k + 1].text).c_str(), nullptr, 0));
      if (extent < 1 || extent > 65536) return false;
      member.count = std::max<std::int64_t>(1, member.count) * extent;
      k += 2;
    }
    alignment = std::max(alignment, type->alignment);
    member.offset = (structure.bytes + type->alignment - 1) / type->alignment * type->alignment;
    structure.bytes = member.offset + tensor::size_of(member.dtype) * static_cast<std::size_t>(std::max<std::int64_t>(1, member.count));
    structure.members.push_back(std::move(member));
  }
  return true;
}

}  // namespace

std::optional<Structure> structure_of(std::string_view type, const TypeNames& names, std::string_view source) {
  const std::string word = unknown_type(type, names);
  const std::vector<SourceToken> tokens = lex_code(source);
  const auto members = members_of(tokens, word);
  if (!members) return std::nullopt;
  Structure structure;
  structure.name = word;
  std::size_t alignment = declared_alignment(tokens, members->first - 1);
  for (std::size_t i = members->first - 1; i-- > 0 && !tokens[i].is(";") && !tokens[i].is("}");)
    if (tokens[i].is("union") || tokens[i].is(":")) return std::nullopt;
  for (std::size_t from = members->first; from < members->second;) {
    while (from < members->second && (tokens[from].is("public") || tokens[from].is("private") || tokens[from].is(":") || tokens[from].is("const"))) ++from;
    std::size_t to = from;
    bool function = false;
    while (to < members->second && !tokens[to].is(";") && !tokens[to].is("}")) {
      function |= tokens[to].is("(");
      if (tokens[to].is("{")) {
        to = matching_bracket(tokens, to);
        if (function) break;   // a body; a brace of an initialiser goes on to its `;`
        ++to;
      } else {
        ++to;
      }
    }
    const bool other = tokens[from].is("static") || tokens[from].is("using") || tokens[from].is("typedef");
    if (!function && !other && to > from && !add_members(structure, alignment, source, tokens, from, to, names)) return std::nullopt;
    from = to + 1;
  }
  if (structure.members.empty()) return std::nullopt;
  structure.bytes = (structure.bytes + alignment - 1) / alignment * alignment;
  return structure;
}

}  // namespace cudal1::kernel
