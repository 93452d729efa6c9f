// SPDX-License-Identifier: Apache-2.0
#include "kernel/element_type.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

namespace cudal1::kernel {

tensor::Dtype dtype_of(const ScalarType& type) {
  if (type.kind == ScalarType::Kind::floating) return type.floating;
  if (type.kind == ScalarType::Kind::boolean) return tensor::Dtype::bool_;
  if (type.size == 1) return type.kind == ScalarType::Kind::unsigned_integer ? tensor::Dtype::uint8 : tensor::Dtype::int8;
  return type.size == 2 ? tensor::Dtype::int16 : type.size == 4 ? tensor::Dtype::int32 : tensor::Dtype::int64;
}

std::optional<tensor::Dtype> dtype_of(const std::string& type, const TypeNames& names) {
  const auto scalar = scalar_type(type, names);
  return scalar ? std::optional(dtype_of(*scalar)) : std::nullopt;
}

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

namespace {

using Elements = std::pair<tensor::Dtype, std::int64_t>;

std::optional<Elements> vector_type(const std::string& type) {
  using D = tensor::Dtype;
  static const std::map<std::string, Elements, std::less<>> vectors = {
      {"float2", {D::float32, 2}}, {"float3", {D::float32, 3}}, {"float4", {D::float32, 4}}, {"double2", {D::float64, 2}}, {"double4", {D::float64, 4}},
      {"int2", {D::int32, 2}},     {"int3", {D::int32, 3}},     {"int4", {D::int32, 4}},     {"uint2", {D::int32, 2}},     {"uint4", {D::int32, 4}},
      {"half2", {D::float16, 2}},  {"__half2", {D::float16, 2}}, {"nv_bfloat162", {D::bfloat16, 2}}, {"__nv_bfloat162", {D::bfloat16, 2}}, {"uchar4", {D::uint8, 4}},
      {"uchar3", {D::uint8, 3}},   {"char4", {D::int8, 4}},     {"short2", {D::int16, 2}}, {"longlong2", {D::int64, 2}}};
  const auto found = vectors.find(type);
  return found == vectors.end() ? std::nullopt : std::optional(found->second);
}

// "float3" → three of 4 bytes that begin at multiples of 4; "float4" at multiples of 16.
struct MemberType {
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::size_t count = 1, alignment = 4;
};

std::optional<MemberType> member_type(std::string_view text, const TypeNames& names) {
  if (const auto dtype = dtype_of(std::string(text), names)) return MemberType{*dtype, 1, tensor::size_of(*dtype)};
  const auto vector = vector_type(unknown_type(text, names));
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

std::optional<std::pair<tensor::Dtype, std::int64_t>> elements_of(const std::string& type, const TypeNames& names, std::string_view source) {
  if (const auto vector = vector_type(type)) return vector;
  const auto structure = structure_of(type, names, source);
  if (!structure) return std::nullopt;
  const tensor::Dtype dtype = structure->members.front().dtype;
  const auto alike = [&](const Structure::Member& member) { return member.dtype == dtype && member.count == 0; };
  const std::size_t count = structure->members.size();
  if (!std::all_of(structure->members.begin(), structure->members.end(), alike) || structure->bytes != count * tensor::size_of(dtype)) return std::nullopt;
  return std::pair{dtype, static_cast<std::int64_t>(count)};
}

}  // namespace cudal1::kernel
