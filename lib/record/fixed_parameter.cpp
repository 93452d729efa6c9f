// SPDX-License-Identifier: Apache-2.0
#include "record/fixed_parameter.hpp"

#include "base/text.hpp"
#include "kernel/host_source.hpp"
#include "kernel/source_lexer.hpp"

#include <utility>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

using kernel::SourceToken;

std::string constant(const std::string& name, const Bytes& value) {
  std::string text = fmt::format("__constant__ __align__(16) unsigned char {}[{}] = {{", name, value.size());
  for (std::size_t i = 0; i < value.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : i % 32 == 0 ? ",\n  " : ", ", static_cast<unsigned>(value[i]));
  return text + "};\n";
}

}  // namespace

tl::expected<std::string, std::string> with_fixed_parameter(const std::string& source, const std::string& kernel, std::size_t count,
                                                            std::size_t index, const Bytes& value, const std::vector<PassedPointer>& pointers) {
  const std::vector<SourceToken> tokens = kernel::lex_code(source);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is(kernel) || !tokens[i + 1].is("(")) continue;
    const std::size_t close = kernel::matching_bracket(tokens, i + 1);
    if (close + 1 >= tokens.size() || !tokens[close + 1].is("{")) continue;
    const auto parameters = kernel::split_arguments(tokens, i + 2, close);
    if (parameters.size() != count) continue;
    const kernel::TokenRange range = parameters[index];
    std::size_t name = range.to;
    for (std::size_t k = range.from; k < range.to && !tokens[k].is("="); ++k)
      if (tokens[k].kind == SourceToken::Kind::identifier) name = k;
    if (name == range.to || name == range.from) return tl::unexpected(fmt::format("a parameter of {} that is passed by value has no name", kernel));
    std::string type;
    for (std::size_t k = range.from; k < name; ++k)
      if (!tokens[k].is("const") && !tokens[k].is("__grid_constant__")) type += (type.empty() ? "" : " ") + std::string(tokens[k].text);
    const std::string held = fmt::format("recorded_{}_{}", kernel, tokens[name].text);

    // With the comma before it, or, of the first one, after it.
    const std::size_t from = index > 0 ? tokens[range.from - 1].offset : tokens[range.from].offset;
    const std::size_t to = index > 0 || range.to >= close ? tokens[range.to - 1].end() : tokens[range.to].end();
    const std::size_t body = tokens[close + 1].end();
    const std::size_t end = tokens[close].offset;
    std::string text = source.substr(0, from) + source.substr(to, end - to);
    bool first = parameters.size() == 1;
    for (const PassedPointer& pointer : pointers) text += fmt::format("{}void* {}", std::exchange(first, false) ? "" : ", ", pointer.name);
    text += source.substr(end, body - end);
    text += fmt::format("\n  {0} {1} = *reinterpret_cast<const {0}*>({2});", type, tokens[name].text, held);
    for (const PassedPointer& pointer : pointers)
      text += fmt::format("\n  *reinterpret_cast<void**>(reinterpret_cast<char*>(&{}) + {}) = {};", tokens[name].text, pointer.offset, pointer.name);
    text += source.substr(body);
    const std::size_t top = text.rfind("#include", text.find("__global__"));
    const std::size_t line = top == std::string::npos ? 0 : text.find('\n', top) + 1;
    return text.substr(0, line) + constant(held, value) + text.substr(line);
  }
  return tl::unexpected(fmt::format("the definition of {} cannot be changed: it is not found as plain text", kernel));
}

}  // namespace cudal1::record
