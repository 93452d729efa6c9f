// SPDX-License-Identifier: Apache-2.0
#include "sim/parser.hpp"

#include "sim/parser_state.hpp"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace cudal1::sim {

void Parser::fail(const std::string& message) const { fail_at(token_, message); }

void Parser::fail_at(const Token& token, const std::string& message) const {
  base::Diagnostic diagnostic;
  diagnostic.line = token.line;
  diagnostic.column = token.column;
  diagnostic.message = message;
  throw Failure{diagnostic};
}

void Parser::advance() { token_ = lexer_.next(); }

bool Parser::accept(std::string_view text) {
  if (!token_.is(text)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("expected \"{}\", found \"{}\"", text, token_.text));
}

std::string Parser::word(std::string_view what) {
  if (token_.kind != Token::Kind::word) fail(fmt::format("expected {}, found \"{}\"", what, token_.text));
  std::string result(token_.text);
  advance();
  return result;
}

std::uint64_t Parser::integer() {
  const bool negative = accept("-");
  if (token_.kind != Token::Kind::integer) fail(fmt::format("expected a number, found \"{}\"", token_.text));
  const std::uint64_t value = token_.bits;
  advance();
  return negative ? 0 - value : value;
}

std::uint64_t Parser::size_below(std::uint64_t limit, std::string_view what) {
  const Token at = token_;
  const std::uint64_t value = integer();
  if (value > limit) fail_at(at, fmt::format("{} of {} is beyond the limit of {}", what, value, limit));
  return value;
}

void Parser::skip_braces() {
  expect("{");
  for (int depth = 1; depth > 0; advance()) {
    if (token_.kind == Token::Kind::end) fail("the text ends inside braces");
    if (token_.is("{")) ++depth;
    if (token_.is("}")) --depth;
  }
}

void Parser::file_directive() {
  const auto index = static_cast<int>(size_below(1 << 20, "a file number"));
  if (token_.kind != Token::Kind::text) fail("expected a file name in quotes");
  module_.files[index] = std::string(token_.text);
  advance();
  while (accept(",")) integer();
}

void Parser::module_item() {
  bool external = false;
  for (;; advance()) {
    if (token_.is(".extern")) external = true;
    else if (!token_.is(".visible") && !token_.is(".weak") && !token_.is(".common")) break;
  }
  if (accept(".version")) {
    if (token_.kind != Token::Kind::real && token_.kind != Token::Kind::integer) fail("expected a version");
    module_.version = std::string(token_.text);
    advance();
  } else if (accept(".target")) {
    module_.target = word("a target");
    while (accept(",")) word("a target option");
  } else if (accept(".address_size")) {
    if (integer() != 64) fail("only 64-bit addresses are executed");
  } else if (accept(".file")) {
    file_directive();
  } else if (accept(".section")) {
    word("a section name");
    skip_braces();
  } else if (accept(".pragma")) {
    while (!token_.is(";") && token_.kind != Token::Kind::end) advance();
    expect(";");
  } else if (accept(".entry")) {
    function(true);
  } else if (accept(".func")) {
    function(false);
  } else if (const auto space = variable_space(); space && *space != Space::param && *space != Space::local) {
    const Space where = *space;
    advance();
    variable_list(where, external, module_.variables);
  } else {
    fail(fmt::format("expected a declaration, found \"{}\"", token_.text));
  }
}

// .loc lines name files whose .file lines usually stand at the end of the text.
void Parser::settle_lines() {
  std::map<int, bool> own;
  const auto base_name = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
  for (const auto& [index, path] : module_.files)
    own[index] = kernel_file_.empty() || base_name(path) == base_name(kernel_file_);
  if (own.size() == 1) own.begin()->second = true;
  // A function that is inlined into an inlined one names that one's place, which the line before has led back to the kernel file.
  std::map<std::pair<int, int>, int> led_back;
  std::vector<int> lines;
  for (const Location& location : locations_) {
    int line = 0;
    if (own[location.file]) line = location.line;
    else if (location.inlined_file && own[location.inlined_file]) line = location.inlined_line;
    else if (const auto found = led_back.find({location.inlined_file, location.inlined_line}); location.inlined_file && found != led_back.end()) line = found->second;
    led_back[{location.file, location.line}] = line;
    lines.push_back(line);
  }
  for (std::size_t f = 0; f < module_.functions.size(); ++f)
    for (Statement& statement : module_.functions[f].body)
      if (statement.source_line) statement.source_line = lines[static_cast<std::size_t>(statement.source_line) - 1];
}

Module Parser::run() {
  advance();
  while (token_.kind != Token::Kind::end) module_item();
  settle_lines();
  return std::move(module_);
}

tl::expected<Module, base::Diagnostic> parse(std::string_view ptx, const std::string& kernel_file) {
  try {
    return Parser(ptx, kernel_file).run();
  } catch (Parser::Failure& failure) {
    failure.diagnostic.file = "PTX";
    failure.diagnostic.line_text = base::line_of(std::string(ptx), failure.diagnostic.line);
    return tl::unexpected(failure.diagnostic);
  }
}

}  // namespace cudal1::sim
