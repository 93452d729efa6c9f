// SPDX-License-Identifier: Apache-2.0
#include "kernel/directive_lexer.hpp"

#include "kernel/complaint.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Longer symbols first: the first that fits is taken.
constexpr std::array<std::string_view, 11> long_symbols = {"<<<", ">>>", "<=", ">=", "==", "!=", "&&", "||", "..", "::", "<<"};
constexpr std::string_view short_symbols = "+-*/%<>=!?:(),[]{}|~.&;#";

// The end of the number that starts at `at`: digits, and a fraction or exponent when there is one. `0..T` is a range,
// so a point followed by a second point does not belong to the number.
std::size_t number_end(std::string_view text, std::size_t at, bool& real) {
  std::size_t i = at;
  if (text[i] == '0' && i + 1 < text.size() && (text[i + 1] == 'x' || text[i + 1] == 'X')) {
    i += 2;
    while (i < text.size() && is_word(text[i])) ++i;
    return i;
  }
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i < text.size() && text[i] == '.' && !(i + 1 < text.size() && text[i + 1] == '.')) {
    real = true;
    ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t exponent = i + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) {
      real = true;
      i = exponent;
      while (i < text.size() && is_digit(text[i])) ++i;
    }
  }
  while (i < text.size() && is_word(text[i])) ++i;  // a suffix; checked where the value is read
  return i;
}

}  // namespace

std::vector<Token> lex_directive(std::string_view text, const std::string& file, int line, int column) {
  std::vector<Token> tokens;
  std::size_t i = 0;
  const auto place = [&](std::size_t at) { return column + static_cast<int>(at); };
  const auto add = [&](Token::Kind kind, std::size_t to) {
    tokens.push_back({kind, std::string(text.substr(i, to - i)), line, place(i)});
    i = to;
  };
  while (i < text.size()) {
    const char c = text[i];
    if (is_blank(c)) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      break;
    } else if (is_word_start(c)) {
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      add(Token::Kind::identifier, end);
    } else if (is_digit(c) || (c == '.' && i + 1 < text.size() && is_digit(text[i + 1]))) {
      bool real = false;
      const std::size_t end = number_end(text, i, real);
      add(real ? Token::Kind::real : Token::Kind::integer, end);
    } else if (c == '"') {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' && end + 1 < text.size() ? 2 : 1;
      if (end >= text.size()) complain(file, line, place(i), "the string is not closed", "expected `\"` before the end of the line");
      add(Token::Kind::string, end + 1);
    } else {
      std::size_t length = short_symbols.find(c) == std::string_view::npos ? 0 : 1;
      for (const std::string_view symbol : long_symbols)
        if (text.substr(i, symbol.size()) == symbol) {
          length = symbol.size();
          break;
        }
      if (length == 0) {
        const auto byte = static_cast<unsigned char>(c);
        complain(file, line, place(i),
                 byte >= 0x20 && byte < 0x7f ? fmt::format("unexpected character `{}`", c)
                                             : fmt::format("unexpected byte 0x{:02x}: directives are plain ASCII", byte));
      }
      add(Token::Kind::symbol, i + length);
    }
  }
  return tokens;
}

std::string describe(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the line" : fmt::format("`{}`", token.text);
}

std::string join(const std::vector<Token>& tokens, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to && i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    if (word == ",") {
      text += ", ";
      continue;
    }
    if (!text.empty() && is_word(text.back()) && is_word(word.front())) text += ' ';
    text += word;
  }
  return text;
}

TokenStream::TokenStream(std::vector<Token> tokens, std::string file, int end_line, int end_column)
    : tokens_(std::move(tokens)), file_(std::move(file)), end_{Token::Kind::end, "", end_line, end_column} {}

const Token& TokenStream::peek(std::size_t ahead) const {
  return position_ + ahead < tokens_.size() ? tokens_[position_ + ahead] : end_;
}

Token TokenStream::take() {
  Token token = peek();
  if (!at_end()) ++position_;
  return token;
}

bool TokenStream::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  ++position_;
  return true;
}

void TokenStream::expect(std::string_view symbol, std::string_view where) {
  if (!accept(symbol)) fail(fmt::format("expected `{}` {}, found {}", symbol, where, describe(peek())));
}

Token TokenStream::expect_name(std::string_view what) {
  if (peek().kind != Token::Kind::identifier) fail(fmt::format("expected {}, found {}", what, describe(peek())));
  return take();
}

void TokenStream::expect_end(std::string_view directive) {
  if (!at_end()) fail(fmt::format("expected the end of the `{}` directive, found {}", directive, describe(peek())));
}

void TokenStream::fail(std::string message, std::string hint) const { fail_at(peek(), std::move(message), std::move(hint)); }

void TokenStream::fail_at(const Token& token, std::string message, std::string hint) const {
  complain(file_, token.line, token.column, std::move(message), std::move(hint));
}

}  // namespace cudal1::kernel
