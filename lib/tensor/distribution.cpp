// SPDX-License-Identifier: Apache-2.0
#include "tensor/distribution.hpp"

#include "base/text.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Distribution::Kind;
constexpr std::pair<std::string_view, Kind> kinds[] = {
    {"normal", Kind::normal}, {"uniform", Kind::uniform}, {"randint", Kind::randint}, {"zeros", Kind::zeros},
    {"ones", Kind::ones},     {"arange", Kind::arange},   {"file", Kind::file}};

bool read_number(std::string_view text, double& value) {
  text = base::trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

std::string bounds_error(std::string_view word, Kind kind) {
  return fmt::format("{}(low, high) takes two {} with low < high", word, kind == Kind::randint ? "integers" : "numbers");
}

}  // namespace

tl::expected<Distribution, std::string> parse_distribution(std::string_view text) {
  text = base::trim(text);
  const auto open = text.find('(');
  const std::string_view word = base::trim(text.substr(0, open));
  const auto* row = std::begin(kinds);
  while (row != std::end(kinds) && row->first != word) ++row;
  if (row == std::end(kinds))
    return tl::unexpected(fmt::format("unknown distribution \"{}\"; expected normal, uniform(low, high), "
                                      "randint(low, high), zeros, ones, arange or file(\"x.npy\")", word));
  Distribution result{row->second, 0, 1, {}};
  std::string_view arguments;
  if (open != std::string_view::npos) {
    if (text.back() != ')') return tl::unexpected(fmt::format("expected \")\" at the end of \"{}\"", text));
    arguments = base::trim(text.substr(open + 1, text.size() - open - 2));
  }
  switch (result.kind) {
    case Kind::uniform:
    case Kind::randint: {
      if (open == std::string_view::npos && result.kind == Kind::uniform) return result;
      const auto comma = arguments.find(',');
      if (comma == std::string_view::npos || !read_number(arguments.substr(0, comma), result.low) ||
          !read_number(arguments.substr(comma + 1), result.high) || !(result.low < result.high) ||
          !std::isfinite(result.high - result.low))
        return tl::unexpected(bounds_error(word, result.kind));
      if (result.kind == Kind::randint &&
          (result.low != std::floor(result.low) || result.high != std::floor(result.high) ||
           std::abs(result.low) > 0x1p62 || std::abs(result.high) > 0x1p62))
        return tl::unexpected(bounds_error(word, result.kind));
      return result;
    }
    case Kind::file:
      if (arguments.size() < 3 || (arguments.front() != '"' && arguments.front() != '\'') ||
          arguments.back() != arguments.front())
        return tl::unexpected<std::string>("file takes one quoted path, file(\"x.npy\")");
      result.path = std::string(arguments.substr(1, arguments.size() - 2));
      return result;
    default:
      if (!arguments.empty()) return tl::unexpected(fmt::format("{} takes no arguments", word));
      return result;
  }
}

std::string to_string(const Distribution& distribution) {
  const std::string_view word = kinds[static_cast<std::size_t>(distribution.kind)].first;
  switch (distribution.kind) {
    case Kind::uniform: return fmt::format("{}({}, {})", word, distribution.low, distribution.high);
    case Kind::randint:
      return fmt::format("{}({}, {})", word, static_cast<std::int64_t>(distribution.low),
                         static_cast<std::int64_t>(distribution.high));
    case Kind::file: return fmt::format("{}(\"{}\")", word, distribution.path);
    default: return std::string(word);
  }
}

Distribution default_distribution(Dtype dtype) {
  if (is_floating(dtype)) return {};
  if (dtype == Dtype::bool_) return {Kind::randint, 0, 2, {}};
  if (dtype == Dtype::uint8) return {Kind::randint, 0, 8, {}};
  return {Kind::randint, -8, 8, {}};
}

}  // namespace cudal1::tensor
