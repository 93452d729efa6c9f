// SPDX-License-Identifier: Apache-2.0
#include "kernel/input_values.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

base::Diagnostic at(const Buffer& buffer, std::string message) {
  base::Diagnostic diagnostic;
  diagnostic.line = buffer.place.line;
  diagnostic.column = buffer.place.column;
  diagnostic.message = fmt::format("input {}: {}", buffer.name, message);
  return diagnostic;
}

}  // namespace

tl::expected<tensor::Distribution, base::Diagnostic> input_values(const Buffer& buffer, const Environment& environment) {
  tensor::Distribution result = buffer.distribution.value_or(tensor::default_distribution(buffer.dtype));
  for (const auto& [text, number] : {std::pair{&result.low_text, &result.low}, {&result.high_text, &result.high}}) {
    if (text->empty()) continue;
    const auto expression = Expression::parse(*text);
    if (!expression) return tl::unexpected(at(buffer, expression.error().message));
    const auto value = expression->evaluate(environment);
    if (!value) return tl::unexpected(at(buffer, value.error().message));
    *number = std::visit([](auto v) { return static_cast<double>(v); }, *value);
  }
  if (result.kind == tensor::Distribution::Kind::file && !result.low_text.empty()) {
    const auto files = base::split_lines(result.path);
    if (result.low < 0 || result.low >= static_cast<double>(files.size()))
      return tl::unexpected(at(buffer, fmt::format("there is no file number {}; it has {}, counted from 0", result.low, files.size())));
    result.path = files[static_cast<std::size_t>(result.low)];
  }
  if (const auto valid = tensor::valid_bounds(result); !valid) return tl::unexpected(at(buffer, valid.error()));
  result.low_text.clear();
  result.high_text.clear();
  return result;
}

std::vector<Expression> bounds(const Buffer& buffer) {
  std::vector<Expression> result;
  if (!buffer.distribution) return result;
  for (const std::string* text : {&buffer.distribution->low_text, &buffer.distribution->high_text})
    if (!text->empty())
      if (auto expression = Expression::parse(*text)) result.push_back(*std::move(expression));
  return result;
}

}  // namespace cudal1::kernel
