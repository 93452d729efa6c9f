// SPDX-License-Identifier: Apache-2.0
#include "kernel/directive_lines.hpp"

#include "kernel/source_lexer.hpp"

namespace cudal1::kernel {

std::vector<DirectiveLine> directive_lines(std::string_view source) {
  std::vector<DirectiveLine> lines;
  for (const SourceToken& token : lex_source(source)) {
    if (token.kind != SourceToken::Kind::line_comment || !token.text.starts_with("//@")) continue;
    const std::size_t newline = token.offset == 0 ? std::string_view::npos : source.rfind('\n', token.offset - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view before = source.substr(begin, token.offset - begin);
    if (begin == 0 && before.starts_with("\xef\xbb\xbf")) before.remove_prefix(3);
    if (before.find_first_not_of(" \t") != std::string_view::npos) continue;
    DirectiveLine line;
    std::string_view text = token.text.substr(3);
    const std::size_t end = text.find('\n');
    line.continued = end != std::string_view::npos;
    text = text.substr(0, end);
    while (text.ends_with('\r')) text.remove_suffix(1);
    if (text.ends_with('\\')) line.continued = true;
    line.text = std::string(text);
    line.line = token.line;
    line.column = static_cast<int>(token.offset - begin) + 4;
    lines.push_back(std::move(line));
  }
  return lines;
}

FirstWord first_word(const DirectiveLine& line) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  const std::string& text = line.text;
  std::size_t begin = text.find_first_not_of(" \t\v\f");
  if (begin == std::string::npos) begin = text.size();
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end == begin && end < text.size() && static_cast<unsigned char>(text[end]) > 0x20 && static_cast<unsigned char>(text[end]) < 0x7f) ++end;
  return {text.substr(begin, end - begin), line.column + static_cast<int>(begin), end};
}

}  // namespace cudal1::kernel
