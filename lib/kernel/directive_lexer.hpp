// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// One word of a directive. Lines and columns count from 1, columns in bytes.
struct Token {
  enum class Kind { identifier, integer, real, string, symbol, end };
  Kind kind = Kind::end;
  std::string text;  // as written; a string's text includes its quotes
  int line = 0, column = 0;

  bool is(std::string_view symbol) const {
    return (kind == Kind::symbol || kind == Kind::identifier) && text == symbol;
  }
};

// The words of `text` up to a `//` comment, without an end token. Throws Complaint on a character no directive knows.
std::vector<Token> lex_directive(std::string_view text, const std::string& file, int line, int column);

// "`,`", "the end of the line": a token in a message.
std::string describe(const Token& token);

// The tokens as text, with a space only where two words would run together.
std::string join(const std::vector<Token>& tokens, std::size_t from, std::size_t to);

// Reads tokens one after the other. Every failure is a Complaint at the token it is about.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string file, int end_line, int end_column);

  const Token& peek(std::size_t ahead = 0) const;
  Token take();
  bool at_end() const { return position_ == tokens_.size(); }
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol, std::string_view where);        // "expected `:` after the buffer's name"
  Token expect_name(std::string_view what);                            // "expected a size's name"
  void expect_end(std::string_view directive);
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;  // at the current token
  [[noreturn]] void fail_at(const Token& token, std::string message, std::string hint = {}) const;

  std::size_t position() const { return position_; }
  std::string text(std::size_t from, std::size_t to) const { return join(tokens_, from, to); }
  const std::string& file() const { return file_; }

 private:
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::string file_;
  Token end_;
};

}  // namespace cudal1::kernel
