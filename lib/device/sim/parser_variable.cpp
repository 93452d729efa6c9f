// SPDX-License-Identifier: Apache-2.0
#include "sim/parser_state.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::uint64_t largest_variable = std::uint64_t{1} << 30;

}  // namespace

std::optional<Space> Parser::variable_space() const {
  if (token_.is(".global")) return Space::global;
  if (token_.is(".shared")) return Space::shared;
  if (token_.is(".local")) return Space::local;
  if (token_.is(".const")) return Space::constant;
  if (token_.is(".param")) return Space::param;
  return std::nullopt;
}

void Parser::initial_value(Variable& variable, Element element) {
  const std::size_t size = std::max(1u, bytes_of(element));
  const auto append = [&](std::uint64_t bits) {
    if (variable.initial.size() >= largest_variable) fail("an initialiser is too long");
    for (std::size_t i = 0; i < size; ++i) variable.initial.push_back(static_cast<std::byte>(i < 8 ? bits >> (8 * i) : 0));
  };
  if (accept("{")) {
    if (++depth_ > 16) fail("initialisers are nested too deeply");
    while (!token_.is("}")) {
      initial_value(variable, element);
      if (!accept(",")) break;
    }
    --depth_;
    expect("}");
  } else if (token_.kind == Token::Kind::real) {
    const bool wide = !token_.single && element == Element::f32;
    append(wide ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(token_.bits))) : token_.bits);
    advance();
  } else if (token_.kind == Token::Kind::word) {
    const bool generic = token_.is("generic");
    if (generic) advance(), expect("(");
    Variable::Relocation relocation{variable.initial.size(), word("a symbol"), 0};
    if (accept("+")) relocation.addend = static_cast<std::int64_t>(integer());
    if (generic) expect(")");
    if (size != 8) fail("an address needs an element of 64 bits");
    variable.relocations.push_back(relocation);
    append(0);
  } else {
    append(integer());
  }
}

Variable Parser::variable(Space space, bool external) {
  Variable variable;
  variable.space = space;
  variable.external = external;
  variable.line = token_.line;
  Element element = Element::b8;
  std::size_t lanes = 1;
  bool typed = false;
  for (; token_.kind == Token::Kind::word && token_.text.front() == '.'; ) {
    if (accept(".align")) {
      variable.align = size_below(1 << 16, "an alignment");
      if (!std::has_single_bit(variable.align)) fail("an alignment is a power of two");
    } else if (accept(".attribute")) {
      expect("(");
      while (!token_.is(")") && token_.kind != Token::Kind::end) advance();
      expect(")");
    } else if (accept(".ptr")) {
      for (const auto name : {".global", ".shared", ".local", ".const"}) accept(name);
    } else if (accept(".v2")) {
      lanes = 2;
    } else if (accept(".v4")) {
      lanes = 4;
    } else if (const auto known = parse_element(token_.text.substr(1)); known && !typed) {
      element = *known;
      typed = true;
      advance();
    } else {
      fail(fmt::format("sim does not know the variable attribute \"{}\"", token_.text));
    }
  }
  if (!typed) fail("a variable needs a type");
  variable.name = word("a variable's name");
  const std::size_t size = std::max(1u, bytes_of(element)) * lanes;
  variable.align = std::max(variable.align, size);
  std::uint64_t count = 1;
  while (accept("[")) {
    if (token_.is("]")) {
      count = 0;
    } else {
      count *= size_below(largest_variable, "an array's length");
      if (count > largest_variable) fail("an array is too large");
    }
    expect("]");
  }
  variable.bytes = count * size;
  if (accept("=")) {
    initial_value(variable, element);
    if (count == 0) variable.bytes = variable.initial.size();
    if (variable.initial.size() > variable.bytes) fail("an initialiser is longer than its variable");
    variable.initial.resize(variable.bytes);
  } else if (count == 0) {
    variable.external = true;
  }
  return variable;
}

void Parser::variable_list(Space space, bool external, std::vector<Variable>& into) {
  into.push_back(variable(space, external));
  while (accept(",")) {
    // Further names share type and alignment.
    Variable next = into.back();
    next.initial.clear();
    next.name = word("a variable's name");
    into.push_back(next);
  }
  expect(";");
}

}  // namespace cudal1::sim
