// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// One word of CUDA C++ source. Preprocessor lines and comments are tokens of their own, so that a reader can skip them.
struct SourceToken {
  enum class Kind { identifier, number, string, symbol, preprocessor, line_comment, block_comment };
  Kind kind = Kind::symbol;
  std::string_view text;   // as written, a view into the source; `<<<`, `>>>` and `::` are one symbol
  std::size_t offset = 0;  // of its first byte
  int line = 0;            // of its first byte, from 1

  bool is(std::string_view word) const { return (kind == Kind::symbol || kind == Kind::identifier) && text == word; }
  std::size_t end() const { return offset + text.size(); }
};

// Never fails: what cannot be closed (a string, a comment) ends where C++ would give up.
std::vector<SourceToken> lex_source(std::string_view source);

// The same without comments and preprocessor lines.
std::vector<SourceToken> lex_code(std::string_view source);

// The index of the bracket that closes the one at `open`, or tokens.size(). Knows ( [ {.
std::size_t matching_bracket(const std::vector<SourceToken>& tokens, std::size_t open);

// The index after the `>` that closes the `<` at `open`, or `open` when it closes nothing.
std::size_t after_template_list(const std::vector<SourceToken>& tokens, std::size_t open);

// The text that the tokens [from, to) stand in, runs of white space made one space.
std::string source_text(std::string_view source, const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to);

// The source with everything under `#ifndef __CUDACC_RTC__` replaced by blanks: what the compiler of variants sees, with
// the same lines. A `#else` part stays.
std::string without_host_part(std::string_view source);

}  // namespace cudal1::kernel
