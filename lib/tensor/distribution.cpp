// SPDX-License-Identifier: Apache-2.0
#include "tensor/distribution.hpp"

#include "base/text.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Distribution::Kind;
constexpr std::pair<std::string_view, Kind> kinds[] = {
    {"normal", Kind::normal}, {"uniform", Kind::uniform}, {"randint", Kind::randint}, {"zeros", Kind::zeros},
    {"ones", Kind::ones},     {"arange", Kind::arange},   {"file", Kind::file},       {"constant", Kind::constant},
    {"sorted", Kind::sorted}, {"permutation", Kind::permutation}, {"offsets", Kind::offsets}};

bool read_number(std::string_view text, double& value) {
  text = base::trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// The arguments at the commas outside every bracket.
std::vector<std::string_view> split(std::string_view arguments) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= arguments.size(); ++i) {
    const char c = i < arguments.size() ? arguments[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < arguments.size())) continue;
    parts.push_back(base::trim(arguments.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (parts.size() == 1 && parts.front().empty()) parts.clear();
  return parts;
}

bool is_integer(double value) { return value == std::floor(value) && std::abs(value) <= 0x1p62; }

std::string form(Kind kind) {
  switch (kind) {
    case Kind::normal: return "normal takes nothing, or (mean, deviation) with a deviation above 0";
    case Kind::uniform: return "uniform(low, high) takes two numbers or expressions of sizes with low < high";
    case Kind::randint: return "randint(low, high) takes two integers or expressions of sizes with low < high";
    case Kind::sorted: return "sorted(low, high) takes two numbers or expressions of sizes with low < high";
    case Kind::constant: return "constant(value) takes one number or expression of sizes";
    case Kind::offsets: return "offsets(total) takes one integer or expression of sizes, 0 or more";
    default: return "it takes no arguments";
  }
}

}  // namespace

tl::expected<void, std::string> valid_bounds(const Distribution& distribution) {
  const double low = distribution.low, high = distribution.high;
  const bool finite = std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low);
  bool good = true;
  switch (distribution.kind) {
    case Kind::normal: good = finite && high > 0; break;
    case Kind::uniform:
    case Kind::sorted: good = finite && low < high; break;
    case Kind::randint: good = finite && low < high && is_integer(low) && is_integer(high); break;
    case Kind::offsets: good = is_integer(low) && low >= 0; break;
    default: break;
  }
  if (good) return {};
  const bool told = distribution.low_text.empty() && distribution.high_text.empty();
  return tl::unexpected(told ? form(distribution.kind) : fmt::format("{}; here they are {} and {}", form(distribution.kind), low, high));
}

tl::expected<Distribution, std::string> parse_distribution(std::string_view text) {
  text = base::trim(text);
  const auto open = text.find('(');
  const std::string_view word = base::trim(text.substr(0, open));
  const auto* row = std::begin(kinds);
  while (row != std::end(kinds) && row->first != word) ++row;
  if (row == std::end(kinds)) {
    std::string known;
    for (const auto& [name, kind] : kinds) known += (known.empty() ? "" : " ") + std::string(name);
    return tl::unexpected(fmt::format("unknown distribution \"{}\"; known: {}", word, known));
  }
  Distribution result;
  result.kind = row->second;
  std::string_view arguments;
  if (open != std::string_view::npos) {
    if (text.back() != ')') return tl::unexpected(fmt::format("expected \")\" at the end of \"{}\"", text));
    arguments = base::trim(text.substr(open + 1, text.size() - open - 2));
  }
  if (result.kind == Kind::file) {
    // file(N, "a.npy", "b.npy"): an expression of sizes says which one, from 0 on; in `path` they stand one to a line.
    if (!arguments.empty() && arguments.front() != '"' && arguments.front() != '\'') {
      const auto parts = split(arguments);
      for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].size() < 3 || parts[i].front() != '"' || parts[i].back() != '"') return tl::unexpected<std::string>("file takes quoted paths behind a size, file(N, \"a.npy\", \"b.npy\")");
        result.path += (i > 1 ? "\n" : "") + std::string(parts[i].substr(1, parts[i].size() - 2));
      }
      if (parts.size() < 2) return tl::unexpected<std::string>("file takes one quoted path, file(\"x.npy\")");
      result.low_text = std::string(parts[0]);
      return result;
    }
    if (arguments.size() < 3 || (arguments.front() != '"' && arguments.front() != '\'') || arguments.back() != arguments.front())
      return tl::unexpected<std::string>("file takes one quoted path, file(\"x.npy\")");
    result.path = std::string(arguments.substr(1, arguments.size() - 2));
    return result;
  }
  const auto parts = split(arguments);
  const std::size_t wanted = result.kind == Kind::constant || result.kind == Kind::offsets                                  ? 1
                             : result.kind == Kind::normal || result.kind == Kind::uniform ? (parts.empty() ? 0 : 2)
                             : result.kind == Kind::randint || result.kind == Kind::sorted ? 2
                                                                                           : 0;
  if (parts.size() != wanted || (result.kind == Kind::uniform && open != std::string_view::npos && parts.empty())) {
    if (wanted == 0 && result.kind != Kind::normal) return tl::unexpected(fmt::format("{} takes no arguments", word));
    return tl::unexpected(form(result.kind));
  }
  // What is no number is an expression, which the kernel file's own parser reads.
  bool numbers = true;
  const auto take = [&](std::size_t i, double& number, std::string& expression) {
    if (i >= parts.size() || read_number(parts[i], number)) return;
    expression = std::string(parts[i]);
    numbers = false;
  };
  take(0, result.low, result.low_text);
  take(1, result.high, result.high_text);
  if (parts.size() == 2 && (parts[0].empty() || parts[1].empty())) return tl::unexpected(form(result.kind));
  if (numbers)
    if (const auto valid = valid_bounds(result); !valid) return tl::unexpected(valid.error());
  return result;
}

std::string to_string(const Distribution& distribution) {
  const std::string_view word = kinds[static_cast<std::size_t>(distribution.kind)].first;
  const bool integers = distribution.kind == Kind::randint || distribution.kind == Kind::offsets;
  const auto bound = [&](double number, const std::string& expression) {
    if (!expression.empty()) return expression;
    return integers ? fmt::format("{}", static_cast<std::int64_t>(number)) : fmt::format("{}", number);
  };
  const std::string low = bound(distribution.low, distribution.low_text), high = bound(distribution.high, distribution.high_text);
  switch (distribution.kind) {
    case Kind::uniform:
    case Kind::randint:
    case Kind::sorted: return fmt::format("{}({}, {})", word, low, high);
    case Kind::constant:
    case Kind::offsets: return fmt::format("{}({})", word, low);
    case Kind::normal: return low == "0" && high == "1" ? std::string(word) : fmt::format("{}({}, {})", word, low, high);
    case Kind::file: {
      if (distribution.low_text.empty()) return fmt::format("{}(\"{}\")", word, distribution.path);
      std::string files;
      for (const std::string& path : base::split_lines(distribution.path)) files += fmt::format(", \"{}\"", path);
      return fmt::format("{}({}{})", word, distribution.low_text, files);
    }
    default: return std::string(word);
  }
}

Distribution default_distribution(Dtype dtype) {
  if (is_floating(dtype)) return {};
  if (dtype == Dtype::bool_) return {Kind::randint, 0, 2, {}, {}, {}};
  if (dtype == Dtype::uint8) return {Kind::randint, 0, 8, {}, {}, {}};
  return {Kind::randint, -8, 8, {}, {}, {}};
}

}  // namespace cudal1::tensor
