// SPDX-License-Identifier: Apache-2.0
#include "kernel/parameter_type.hpp"

#include "kernel/expression_node.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Kind = ScalarType::Kind;

bool is_ignored(std::string_view word) {
  return word == "const" || word == "volatile" || word == "__restrict__" || word == "__restrict" || word == "restrict" ||
         word == "__grid_constant__" || word == "typename" || word == "std" || word == "cuda" || word == "::" || word == "*" ||
         word == "&";
}

// The words of a type with names replaced by what they stand for, until none is left to replace. A pointer ends it.
std::vector<std::string> words_of(std::string_view text, const TypeNames& names, int depth = 0) {
  std::vector<std::string> words;
  for (const SourceToken& token : lex_code(text)) {
    if (token.is("*")) break;
    if (is_ignored(token.text)) continue;
    const auto found = names.find(token.text);
    if (found == names.end() || depth > 8 || found->second == token.text) {
      words.emplace_back(token.text);
      continue;
    }
    for (std::string& word : words_of(found->second, names, depth + 1)) words.push_back(std::move(word));
    if (words.size() > 16) break;
  }
  return words;
}

std::optional<ScalarType> named_type(const std::string& word) {
  static const std::map<std::string, ScalarType, std::less<>> types = {
      {"float", {Kind::floating, 4, tensor::Dtype::float32}},
      {"double", {Kind::floating, 8, tensor::Dtype::float64}},
      {"half", {Kind::floating, 2, tensor::Dtype::float16}},
      {"__half", {Kind::floating, 2, tensor::Dtype::float16}},
      {"nv_bfloat16", {Kind::floating, 2, tensor::Dtype::bfloat16}},
      {"__nv_bfloat16", {Kind::floating, 2, tensor::Dtype::bfloat16}},
      {"bool", {Kind::boolean, 1, {}}},
      {"size_t", {Kind::unsigned_integer, 8, {}}},
      {"uintptr_t", {Kind::unsigned_integer, 8, {}}},
      {"ptrdiff_t", {Kind::signed_integer, 8, {}}},
      {"ssize_t", {Kind::signed_integer, 8, {}}},
      {"intptr_t", {Kind::signed_integer, 8, {}}},
      {"int8_t", {Kind::signed_integer, 1, {}}},
      {"int16_t", {Kind::signed_integer, 2, {}}},
      {"int32_t", {Kind::signed_integer, 4, {}}},
      {"int64_t", {Kind::signed_integer, 8, {}}},
      {"uint8_t", {Kind::unsigned_integer, 1, {}}},
      {"uint16_t", {Kind::unsigned_integer, 2, {}}},
      {"uint32_t", {Kind::unsigned_integer, 4, {}}},
      {"uint64_t", {Kind::unsigned_integer, 8, {}}},
      {"uchar", {Kind::unsigned_integer, 1, {}}},
      {"ushort", {Kind::unsigned_integer, 2, {}}},
      {"uint", {Kind::unsigned_integer, 4, {}}},
      {"ulong", {Kind::unsigned_integer, 8, {}}},
  };
  const auto found = types.find(word);
  return found == types.end() ? std::nullopt : std::optional<ScalarType>(found->second);
}

bool is_integer_word(const std::string& word) {
  return word == "int" || word == "char" || word == "short" || word == "long" || word == "unsigned" || word == "signed";
}

template <typename T>
ScalarArgument bytes_of(T value) {
  ScalarArgument argument;
  argument.size = sizeof value;
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

tl::expected<ScalarArgument, std::string> convert_integer(std::int64_t value, const ScalarType& type, std::string_view type_text) {
  const auto bits = static_cast<int>(8 * type.size);
  bool fits = true;
  if (type.kind == Kind::unsigned_integer)
    fits = value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
  else if (bits < 64)
    fits = value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1));
  if (!fits) return tl::unexpected(fmt::format("{} does not fit into {}", value, type_text));
  // Little-endian, as CUDA's hosts and devices are: the low bytes come first.
  ScalarArgument argument = bytes_of(value);
  argument.size = type.size;
  std::fill(argument.bytes.begin() + static_cast<std::ptrdiff_t>(type.size), argument.bytes.end(), std::byte{0});
  return argument;
}

}  // namespace

std::optional<ScalarType> scalar_type(std::string_view text, const TypeNames& names) {
  const std::vector<std::string> words = words_of(text, names);
  if (words.empty()) return std::nullopt;
  if (words.size() == 1)
    if (const auto type = named_type(words[0])) return type;
  if (words == std::vector<std::string>{"long", "double"} || !std::all_of(words.begin(), words.end(), is_integer_word)) return std::nullopt;
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  ScalarType type;
  type.kind = count("unsigned") ? Kind::unsigned_integer : Kind::signed_integer;
  type.size = count("char") ? 1 : count("short") ? 2 : count("long") ? 8 : 4;
  return type;
}

std::string plain_type(std::string_view text, const TypeNames& names) {
  return fmt::format("{}", fmt::join(words_of(text, names), " "));
}

std::string unknown_type(std::string_view text, const TypeNames& names) {
  for (const std::string& word : words_of(text, names))
    if (!is_integer_word(word) && !named_type(word)) return word;
  return std::string(text);
}

tl::expected<ScalarArgument, std::string> convert(const Value& value, const ScalarType& type, std::string_view type_text) {
  if (type.kind == Kind::floating) {
    const double real = std::visit([](auto v) { return static_cast<double>(v); }, value);
    ScalarArgument argument;
    argument.size = type.size;
    tensor::store(type.floating, real, argument.bytes.data());
    if (!std::isfinite(tensor::load(type.floating, argument.bytes.data())))
      return tl::unexpected(fmt::format("{} does not fit into {}", real_text(real), type_text));
    return argument;
  }
  if (const auto* real = std::get_if<double>(&value))
    return tl::unexpected(fmt::format("{} is not an integer, but the parameter is {}", real_text(*real), type_text));
  const std::int64_t integer = std::holds_alternative<bool>(value) ? std::get<bool>(value) : std::get<std::int64_t>(value);
  if (type.kind == Kind::boolean) {
    if (integer != 0 && integer != 1) return tl::unexpected(fmt::format("{} is neither true nor false, but the parameter is {}", integer, type_text));
    return bytes_of(integer != 0);
  }
  return convert_integer(integer, type, type_text);
}

}  // namespace cudal1::kernel
