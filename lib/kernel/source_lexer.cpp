// SPDX-License-Identifier: Apache-2.0
#include "kernel/source_lexer.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<SourceToken> run() {
    tokens_.reserve(source_.size() / 5);
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void add(Kind kind, std::size_t end) {
    end = std::min(end, source_.size());
    const std::string_view text = source_.substr(at_, end - at_);
    tokens_.push_back({kind, text, at_, line_});
    if (kind != Kind::identifier && kind != Kind::symbol && kind != Kind::number) line_ += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    at_ = end;
  }

  // The end of the logical line: a backslash in front of the newline goes on. A block comment that begins on a
  // preprocessor line and ends on a later one belongs to it.
  std::size_t logical_line_end(bool with_comments) const {
    std::size_t i = at_;
    while (i < source_.size() && source_[i] != '\n') {
      const char next = i + 1 < source_.size() ? source_[i + 1] : '\0';
      if (with_comments && source_[i] == '/' && next == '/') break;
      if (with_comments && source_[i] == '/' && next == '*') {
        const std::size_t close = source_.find("*/", i + 2);
        i = close == std::string_view::npos ? source_.size() : close + 2;
        continue;
      }
      if (source_[i] == '\\') {
        const std::size_t newline = i + (next == '\r' ? 2 : 1);
        if (newline < source_.size() && source_[newline] == '\n') i = newline;
      }
      ++i;
    }
    return std::min(i, source_.size());
  }

  std::size_t quoted_end(char quote) const {
    std::size_t i = at_ + 1;
    while (i < source_.size() && source_[i] != quote && source_[i] != '\n') i += source_[i] == '\\' ? 2 : 1;
    if (i < source_.size() && source_[i] == quote) ++i;
    return i;
  }

  // R"delimiter( … )delimiter", `at_` on the opening quote.
  std::size_t raw_string_end() const {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return quoted_end('"');
    const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = source_.find(close, open);
    return end == std::string_view::npos ? source_.size() : end + close.size();
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
      line_start_ = true;
      return;
    }
    if (is_blank(c)) {
      ++at_;
      return;
    }
    const bool first = line_start_;
    if (c == '/' && peek(1) == '/') {
      add(Kind::line_comment, logical_line_end(false));
      return;
    }
    if (c == '/' && peek(1) == '*') {
      const std::size_t close = source_.find("*/", at_ + 2);
      add(Kind::block_comment, close == std::string_view::npos ? source_.size() : close + 2);
      return;
    }
    line_start_ = false;
    if (c == '#' && first) {
      add(Kind::preprocessor, logical_line_end(true));
    } else if (is_word_start(c)) {
      word();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      std::size_t end = at_ + 1;
      while (end < source_.size()) {
        const char d = source_[end], before = source_[end - 1];
        const bool sign = (d == '+' || d == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P') &&
                          !(source_[at_] == '0' && at_ + 1 < source_.size() && (source_[at_ + 1] | 0x20) == 'x' && (before | 0x20) == 'e');
        if (!is_word(d) && d != '.' && !sign && !(d == '\'' && end + 1 < source_.size() && is_word(source_[end + 1]))) break;
        ++end;
      }
      add(Kind::number, end);
    } else if (c == '"' || c == '\'') {
      add(Kind::string, quoted_end(c));
    } else {
      add(Kind::symbol, at_ + symbol_length(c, peek(1), peek(2)));
    }
  }

  // `<<<`, `>>>`, `::`, `->`, `&&`, `||`, `++`, `--`, `==` and what ends in `=`; of others each byte is a symbol.
  static std::size_t symbol_length(char c, char second, char third) {
    if ((c == '<' || c == '>') && second == c && third == c) return 3;
    const bool equal = second == '=' && (c == '=' || c == '!' || c == '<' || c == '>' || c == '+' || c == '-' || c == '*' || c == '/');
    const bool twice = second == c && (c == ':' || c == '&' || c == '|' || c == '+' || c == '-');
    return equal || twice || (c == '-' && second == '>') ? 2 : 1;
  }

  void word() {
    std::size_t end = at_;
    while (end < source_.size() && is_word(source_[end])) ++end;
    if (end < source_.size() && source_[end] == '"') {
      const std::string_view text = source_.substr(at_, end - at_);
      const bool prefix = text == "L" || text == "u" || text == "U" || text == "u8";
      const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
      if (prefix || raw) {
        at_ = end;
        add(Kind::string, raw ? raw_string_end() : quoted_end('"'));
        return;
      }
    }
    add(Kind::identifier, end);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<SourceToken> tokens_;
};

// The words of a preprocessor line after the `#`, comments and blanks removed: "ifndef__CUDACC_RTC__".
std::string compact(std::string_view line) {
  std::string text;
  for (const char c : line.substr(1))
    if (!is_blank(c)) text += c;
  return text;
}

}  // namespace

std::vector<SourceToken> lex_source(std::string_view source) { return Lexer(source).run(); }

std::vector<SourceToken> lex_code(std::string_view source) {
  std::vector<SourceToken> tokens = lex_source(source);
  std::erase_if(tokens, [](const SourceToken& token) {
    return token.kind == Kind::preprocessor || token.kind == Kind::line_comment || token.kind == Kind::block_comment;
  });
  return tokens;
}

std::size_t matching_bracket(const std::vector<SourceToken>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::symbol) continue;
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) ++depth;
    if ((tokens[i].is(")") || tokens[i].is("]") || tokens[i].is("}")) && --depth == 0) return i;
  }
  return tokens.size();
}

std::size_t after_template_list(const std::vector<SourceToken>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = matching_bracket(tokens, i);
      if (i == tokens.size()) return open;
    } else if (token.is("<")) {
      ++depth;
    } else if (token.is(">") || token.is(">>>")) {
      depth -= token.is(">") ? 1 : 3;
      if (depth <= 0) return i + 1;
    } else if (token.is(";") || token.is("}") || token.is(")") || token.is("<<<")) {
      return open;
    }
  }
  return open;
}

std::string source_text(std::string_view source, const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to && i < tokens.size(); ++i) {
    if (i > from && tokens[i].offset > tokens[i - 1].end()) text += ' ';
    text += source.substr(tokens[i].offset, tokens[i].text.size());
  }
  return text;
}

std::string without_host_part(std::string_view source) {
  std::string text(source);
  // Each open conditional: is it the host's, and where its hidden part began.
  struct Open {
    bool host;
    std::size_t hidden_from;
  };
  std::vector<Open> open;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  };
  constexpr std::size_t visible = static_cast<std::size_t>(-1);
  for (const SourceToken& token : lex_source(source)) {
    if (token.kind != Kind::preprocessor) continue;
    const std::string line = compact(token.text);
    if (line.starts_with("if")) {
      const bool host = line == "ifndef__CUDACC_RTC__" || line == "if!defined(__CUDACC_RTC__)" || line == "if!defined__CUDACC_RTC__";
      open.push_back({host, host ? token.offset : visible});
    } else if (!open.empty() && line.starts_with("el")) {
      if (open.back().hidden_from != visible) {
        blank(open.back().hidden_from, token.end());
        open.back().hidden_from = visible;
      }
    } else if (!open.empty() && line.starts_with("endif")) {
      if (open.back().hidden_from != visible) blank(open.back().hidden_from, token.end());
      else if (open.back().host) blank(token.offset, token.end());
      open.pop_back();
    }
  }
  if (!open.empty() && open.front().hidden_from != visible) blank(open.front().hidden_from, text.size());
  return text;
}

}  // namespace cudal1::kernel
