// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cudal1::sim {

// A piece of PTX text. Words are names, opcodes, directives and registers with all their dots: "ld.global.nc.f32",
// ".reg", "%tid.x". Numbers carry their bits.
struct Token {
  enum class Kind { word, integer, real, text, punctuation, end };
  Kind kind = Kind::end;
  std::string_view text;   // points into the source
  std::uint64_t bits = 0;  // of an integer (two's complement) or a real (IEEE)
  bool single = false;     // a real of 32 bits: 0f3F800000; else 64
  int line = 1, column = 1;

  bool is(std::string_view what) const { return kind != Kind::text && text == what; }
};

// Splits PTX into tokens. Never fails on its own: what it cannot read becomes punctuation that the parser refuses.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  Token next();

 private:
  void skip_blanks();
  Token number(Token token);
  char at(std::size_t offset) const { return position_ + offset < source_.size() ? source_[position_ + offset] : '\0'; }

  std::string_view source_;
  std::size_t position_ = 0, line_start_ = 0;
  int line_ = 1;
};

}  // namespace cudal1::sim
