// SPDX-License-Identifier: Apache-2.0
#include "sim/parser_state.hpp"

#include <fmt/format.h>

namespace cudal1::sim {

int Parser::find_register(std::string_view name) const {
  for (int scope = scope_; scope >= 0; scope = scopes_[static_cast<std::size_t>(scope)].parent) {
    const auto& known = scopes_[static_cast<std::size_t>(scope)].registers;
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  return -1;
}

std::string Parser::variable_name(const std::string& name) const {
  for (int scope = scope_; scope >= 0; scope = scopes_[static_cast<std::size_t>(scope)].parent) {
    const auto& known = scopes_[static_cast<std::size_t>(scope)].variables;
    if (const auto found = known.find(name); found != known.end()) return found->second;
  }
  return name;
}

Operand Parser::named(const Token& token) {
  Operand operand;
  if (token.is("_")) {
    operand.kind = Operand::Kind::sink;
  } else if (const int reg = find_register(token.text); reg >= 0) {
    operand.kind = Operand::Kind::reg;
    operand.reg = reg;
  } else if (token.text.front() == '%' || token.is("WARP_SZ")) {
    operand.kind = Operand::Kind::special;
    operand.name = std::string(token.text);
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.name = variable_name(std::string(token.text));
  }
  return operand;
}

Operand Parser::vector() {
  Operand operand;
  operand.kind = Operand::Kind::vector;
  expect("{");
  if (++depth_ > 16) fail("braces are nested too deeply");
  while (!token_.is("}")) {
    if (operand.elements.size() >= 256) fail("a vector has too many elements");
    operand.elements.push_back(this->operand());
    if (!accept(",")) break;
  }
  --depth_;
  expect("}");
  return operand;
}

Operand Parser::address() {
  Operand operand;
  expect("[");
  if (token_.kind == Token::Kind::word) {
    const Token base = token_;
    advance();
    operand = named(base);
    if (operand.kind == Operand::Kind::special || operand.kind == Operand::Kind::sink)
      fail_at(base, fmt::format("\"{}\" is not declared", base.text));
    while (token_.is("+") || token_.is("-")) {
      const bool minus = token_.is("-");
      advance();
      const std::uint64_t offset = integer();
      operand.bits += minus ? 0 - offset : offset;
    }
    // Texture coordinates follow a comma; the opcode is refused later, so they only need to be read.
    while (accept(",")) operand.elements.push_back(this->operand());
  } else {
    operand.bits = integer();
  }
  operand.kind = Operand::Kind::address;
  expect("]");
  return operand;
}

Operand Parser::operand() {
  Operand operand;
  const Token start = token_;
  if (token_.is("[")) return address();
  if (token_.is("{")) return vector();
  if (token_.is("(")) {
    advance();
    if (++depth_ > 16) fail("parentheses are nested too deeply");
    operand = this->operand();
    --depth_;
    expect(")");
    return operand;
  }
  if (accept("!")) {
    operand = this->operand();
    if (operand.kind != Operand::Kind::reg) fail_at(start, "only a predicate can be negated");
    operand.negated = true;
    return operand;
  }
  if (token_.kind == Token::Kind::word) {
    advance();
    operand = named(start);
    if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::reg) {
      if (token_.is("+") || token_.is("-")) {
        const bool minus = token_.is("-");
        advance();
        const std::uint64_t offset = integer();
        operand.bits = minus ? 0 - offset : offset;
      }
    }
    if (accept("|")) {
      const Token second = token_;
      word("a predicate register");
      operand.second = second.is("_") ? -1 : find_register(second.text);
      if (operand.second < 0 && !second.is("_")) fail_at(second, fmt::format("\"{}\" is not declared", second.text));
    }
    return operand;
  }
  operand.kind = Operand::Kind::immediate;
  const bool negative = token_.is("-");
  if (negative || token_.is("+")) advance();
  if (token_.kind == Token::Kind::real) {
    operand.real = true;
    operand.single = token_.single;
    operand.bits = token_.bits;
    if (negative) operand.bits ^= token_.single ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
  } else if (token_.kind == Token::Kind::integer) {
    operand.bits = negative ? 0 - token_.bits : token_.bits;
  } else {
    fail(fmt::format("expected an operand, found \"{}\"", token_.text));
  }
  advance();
  return operand;
}

}  // namespace cudal1::sim
