// SPDX-License-Identifier: Apache-2.0
#include "tensor/lexer.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

constexpr std::string_view signs[] = {"...", "**=", "//=", "**", "//", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "@=",
                                      "+",   "-",   "*",   "/",  "%",  "@",  "(",  ")",  "[",  "]",  "{",  "}",  ",",
                                      ":",   ";",   ".",   "=",  "<",  ">",  "&",  "|",  "^",  "~"};

// Digits, a fraction, an exponent; underscores between digits are Python's and rare enough to be left out.
std::size_t number_length(std::string_view rest, bool& real) {
  std::size_t n = 0;
  while (n < rest.size() && is_digit(rest[n])) ++n;
  if (n < rest.size() && rest[n] == '.') {
    real = true;
    ++n;
    while (n < rest.size() && is_digit(rest[n])) ++n;
  }
  if (n < rest.size() && (rest[n] == 'e' || rest[n] == 'E')) {
    std::size_t m = n + 1;
    if (m < rest.size() && (rest[m] == '+' || rest[m] == '-')) ++m;
    if (m < rest.size() && is_digit(rest[m])) {
      real = true;
      n = m;
      while (n < rest.size() && is_digit(rest[n])) ++n;
    }
  }
  return n;
}

}  // namespace

tl::expected<std::vector<Token>, LexicalError> tokens(std::string_view text) {
  std::vector<Token> result;
  std::size_t at = 0;
  const auto refuse = [&](std::string message) { return tl::unexpected(LexicalError{static_cast<int>(at) + 1, std::move(message)}); };
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at;
      continue;
    }
    Token token;
    token.column = static_cast<int>(at) + 1;
    std::size_t length = 0;
    if (starts_name(c)) {
      length = 1;
      while (at + length < text.size() && (starts_name(text[at + length]) || is_digit(text[at + length]))) ++length;
      token.kind = Token::Kind::name;
      token.text = text.substr(at, length);
    } else if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
      bool real = false;
      length = number_length(text.substr(at), real);
      token.text = text.substr(at, length);
      const char *first = token.text.data(), *last = first + length;
      if (at + length < text.size() && starts_name(text[at + length])) return refuse("a number ends in a letter");
      token.kind = real ? Token::Kind::real : Token::Kind::integer;
      const auto error = real ? std::from_chars(first, last, token.real).ec : std::from_chars(first, last, token.integer).ec;
      if (error != std::errc{}) return refuse(fmt::format("the number {} is too large or too small", token.text.substr(0, 40)));
    } else if (c == '\'' || c == '"') {
      const auto close = text.find(c, at + 1);
      if (close == std::string_view::npos) return refuse(fmt::format("a string has no closing {}", c));
      length = close - at + 1;
      token.kind = Token::Kind::text;
      token.text = text.substr(at + 1, length - 2);
      if (token.text.find('\\') != std::string_view::npos) return refuse("a string holds a backslash");
    } else {
      for (const std::string_view sign : signs)
        if (text.substr(at, sign.size()) == sign) {
          length = sign.size();
          break;
        }
      if (length == 0) {
        if (c == '#') break;  // a Python comment
        return refuse(c > 32 && c < 127 ? fmt::format("unexpected character \"{}\"", c) : std::string("unexpected character"));
      }
      token.kind = Token::Kind::sign;
      token.text = text.substr(at, length);
    }
    result.push_back(token);
    at += length;
  }
  Token end;
  end.column = static_cast<int>(text.size()) + 1;
  result.push_back(end);
  return result;
}

}  // namespace cudal1::tensor
