// SPDX-License-Identifier: Apache-2.0
#include "kernel/element_type.hpp"

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

}  // namespace cudal1::kernel
