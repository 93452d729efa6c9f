// SPDX-License-Identifier: Apache-2.0
#include "sim/lexer.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

namespace cudal1::sim {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::uint64_t hex_bits(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
  return value;
}

}  // namespace

void Lexer::skip_blanks() {
  while (position_ < source_.size()) {
    const char c = source_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++position_;
    } else if ((c == '/' && at(1) == '/') || c == '#') {
      while (position_ < source_.size() && source_[position_] != '\n') ++position_;
    } else if (c == '/' && at(1) == '*') {
      position_ += 2;
      while (position_ < source_.size() && !(source_[position_] == '*' && at(1) == '/')) {
        if (source_[position_] == '\n') {
          ++line_;
          line_start_ = position_ + 1;
        }
        ++position_;
      }
      position_ = std::min(source_.size(), position_ + 2);
    } else {
      return;
    }
  }
}

Token Lexer::number(Token token) {
  const std::size_t start = position_;
  const char marker = static_cast<char>(at(1) | 32);
  const auto take = [&](auto accepts) {
    const std::size_t from = position_;
    while (position_ < source_.size() && accepts(source_[position_])) ++position_;
    return source_.substr(from, position_ - from);
  };
  token.kind = Token::Kind::integer;
  if (at(0) == '0' && (marker == 'f' || marker == 'd') && is_hex(at(2))) {
    position_ += 2;
    token.kind = Token::Kind::real;
    token.single = marker == 'f';
    token.bits = hex_bits(take(is_hex));
  } else if (at(0) == '0' && marker == 'x') {
    position_ += 2;
    token.bits = hex_bits(take(is_hex));
  } else if (at(0) == '0' && marker == 'b') {
    position_ += 2;
    for (const char c : take([](char c) { return c == '0' || c == '1'; })) token.bits = token.bits * 2 + (c == '1');
  } else {
    const std::string_view digits = take(is_digit);
    const auto exponent = [&] {
      return (at(0) | 32) == 'e' && (is_digit(at(1)) || ((at(1) == '-' || at(1) == '+') && is_digit(at(2))));
    };
    if ((at(0) == '.' && is_digit(at(1))) || exponent()) {
      if (at(0) == '.') ++position_, take(is_digit);
      if (exponent()) position_ += 2, take(is_digit);
      token.kind = Token::Kind::real;
      token.bits = std::bit_cast<std::uint64_t>(std::strtod(std::string(source_.substr(start, position_ - start)).c_str(), nullptr));
    } else {
      const unsigned base = digits.size() > 1 && digits[0] == '0' ? 8 : 10;
      for (const char c : digits) token.bits = token.bits * base + static_cast<unsigned>(c - '0');
    }
  }
  if (token.kind == Token::Kind::integer && at(0) == 'U') ++position_;
  token.text = source_.substr(start, position_ - start);
  return token;
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.line = line_;
  token.column = static_cast<int>(position_ - line_start_) + 1;
  if (position_ >= source_.size()) return token;
  const char c = source_[position_];
  const std::size_t start = position_;
  if (is_digit(c)) return number(token);
  if (is_letter(c) || (c == '.' && is_letter(at(1)))) {
    token.kind = Token::Kind::word;
    ++position_;
    // A directive ends at the next dot (".reg.b16"), an opcode goes on.
    while (is_letter(at(0)) || is_digit(at(0)) || (at(0) == '.' && c != '.') || (at(0) == ':' && at(1) == ':' && (is_letter(at(2)) || is_digit(at(2))))) {
      position_ += at(0) == ':' ? 2 : 1;
    }
  } else if (c == '"') {
    token.kind = Token::Kind::text;
    ++position_;
    const std::size_t from = position_;
    while (position_ < source_.size() && source_[position_] != '"' && source_[position_] != '\n') ++position_;
    token.text = source_.substr(from, position_ - from);
    if (at(0) == '"') ++position_;
    return token;
  } else {
    token.kind = Token::Kind::punctuation;
    ++position_;
  }
  token.text = source_.substr(start, position_ - start);
  return token;
}

}  // namespace cudal1::sim
