// SPDX-License-Identifier: Apache-2.0
#include "compile/ptx_statements.hpp"

#include <algorithm>
#include <cctype>

namespace cudal1::compile {
namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Empty at the end. A newline is a token of its own only as an end of .loc, .file and the like; see end_line().
  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
    } else if (in_word(text_[at_])) {
      // "::" belongs to a word too: ld.global.L2::128B, cp.async.bulk.shared::cluster.
      while (at_ < text_.size() && (in_word(text_[at_]) || text_.substr(at_, 2) == "::")) at_ += text_[at_] == ':' ? 2 : 1;
    } else {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void end_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      else if (text_.substr(at_, 2) == "//") end_line();
      else if (text_.substr(at_, 2) == "/*") at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      else break;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_line_directive(std::string_view word) {
  return word == ".loc" || word == ".file" || word == ".version" || word == ".target" || word == ".address_size";
}

}  // namespace

std::vector<Statement> ptx_statements(std::string_view ptx) {
  std::vector<Statement> statements;
  Statement current;
  Lexer lexer(ptx);
  int vector_depth = 0;
  const auto finish = [&] {
    if (!current.empty()) statements.push_back(std::move(current));
    current = {};
  };
  for (std::string_view word = lexer.next(); !word.empty(); word = lexer.next()) {
    if (vector_depth > 0) {
      vector_depth += word == "{" ? 1 : word == "}" ? -1 : 0;
      current.push_back(word);
    } else if (current.empty() && is_line_directive(word)) {
      lexer.end_line();
    } else if (current.empty() && word == ".section") {
      int depth = 0;
      while (!(word = lexer.next()).empty()) {
        depth += word == "{" ? 1 : word == "}" ? -1 : 0;
        if (depth == 0 && word == "}") break;
      }
    } else if (word == ";") {
      finish();
    } else if (word == "{") {
      // A block opens at the start of a statement or behind the head of a function; elsewhere it is an operand's brace.
      const bool head = std::find(current.begin(), current.end(), ".entry") != current.end() ||
                        std::find(current.begin(), current.end(), ".func") != current.end();
      if (current.empty() || head) {
        finish();
        statements.push_back({word});
      } else {
        vector_depth = 1;
        current.push_back(word);
      }
    } else if (word == "}") {
      finish();
      statements.push_back({word});
    } else if (word == ":" && current.size() == 1) {
      current.push_back(word);  // a label
      finish();
    } else {
      current.push_back(word);
    }
  }
  finish();
  return statements;
}

std::vector<Operand> operands(const Statement& words, std::size_t first) {
  std::vector<Operand> all(1);
  int depth = 0;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "[" && depth == 0) all.back().address = true;
    if (word == "[" || word == "{" || word == "(") ++depth;
    else if (word == "]" || word == "}" || word == ")") --depth;
    else if (word == "," && depth == 0) all.emplace_back();
    else all.back().words.push_back(word);
  }
  return all;
}

}  // namespace cudal1::compile
