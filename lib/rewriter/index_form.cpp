// SPDX-License-Identifier: Apache-2.0
#include "rewriter/index_form.hpp"

#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <cstdlib>

namespace cudal1::rewriter {
namespace {

IndexForm combined(const kernel::Polynomial& value, const IndexForm& a, const IndexForm& b) {
  IndexForm result{value, a.opaque};
  result.opaque.insert(b.opaque.begin(), b.opaque.end());
  return result;
}

class Parser {
 public:
  Parser(std::string_view text, const Definitions& definitions)
      : text_(text), tokens_(kernel::lex_code(text)), definitions_(definitions) {}

  IndexForm whole() {
    IndexForm result = added();
    return at_ == tokens_.size() && !failed_ ? result : unknown(0, tokens_.size());
  }

 private:
  bool is(std::string_view word) const { return at_ < tokens_.size() && tokens_[at_].is(word); }

  IndexForm added() {
    IndexForm result = multiplied();
    while (is("+") || is("-")) {
      const bool minus = is("-");
      ++at_;
      const IndexForm next = multiplied();
      result = combined(minus ? result.value - next.value : result.value + next.value, result, next);
    }
    return result;
  }

  IndexForm multiplied() {
    const std::size_t start = at_;
    IndexForm result = primary();
    while (is("*") || is("/") || is("%")) {
      const bool times = is("*");
      ++at_;
      const IndexForm next = primary();
      result = times ? combined(result.value * next.value, result, next) : unknown(start, at_);
    }
    return result;
  }

  static bool is_integer_type(std::string_view word) {
    return word == "int" || word == "unsigned" || word == "long" || word == "size_t" || word == "int64_t" || word == "uint32_t" ||
           word == "uint64_t" || word == "int32_t";
  }

  IndexForm primary() {
    if (at_ >= tokens_.size()) return failed_ = true, IndexForm{};
    const std::size_t start = at_;
    if (is("(")) {
      const std::size_t close = kernel::matching_bracket(tokens_, at_);
      bool cast = close > at_ + 1 && close < tokens_.size();
      for (std::size_t i = at_ + 1; cast && i < close; ++i) cast = is_integer_type(tokens_[i].text);
      if (cast) {
        at_ = close + 1;
        return primary();
      }
      ++at_;
      IndexForm result = added();
      if (!is(")")) failed_ = true;
      ++at_;
      return result;
    }
    if (is("static_cast")) {
      while (at_ < tokens_.size() && !is("(")) ++at_;
      return primary();
    }
    if (is("-")) {
      ++at_;
      const IndexForm negated = primary();
      return {kernel::Polynomial() - negated.value, negated.opaque};
    }
    const kernel::SourceToken& token = tokens_[at_++];
    if (token.kind == kernel::SourceToken::Kind::number) {
      std::string digits(token.text);
      while (!digits.empty() && std::string("uUlL").find(digits.back()) != std::string::npos) digits.pop_back();
      char* end = nullptr;
      const std::int64_t value = std::strtoll(digits.c_str(), &end, 0);
      if (end == nullptr || *end != '\0') failed_ = true;
      return {kernel::Polynomial::constant(value)};
    }
    if (token.kind != kernel::SourceToken::Kind::identifier) return failed_ = true, IndexForm{};
    if (is("(") && is_integer_type(token.text)) return primary();
    if (is("(") || is("[")) {
      at_ = kernel::matching_bracket(tokens_, at_) + 1;
      return unknown(start, std::min(at_, tokens_.size()));
    }
    std::string name(token.text);
    while (is(".") && at_ + 1 < tokens_.size()) {
      name += "." + std::string(tokens_[at_ + 1].text);
      at_ += 2;
    }
    if (const auto known = definitions_.find(name); known != definitions_.end()) return known->second;
    return {kernel::Polynomial::atom(name)};
  }

  IndexForm unknown(std::size_t from, std::size_t to) const {
    const std::string factor = "(" + kernel::source_text(text_, tokens_, from, std::min(to, tokens_.size())) + ")";
    IndexForm result{kernel::Polynomial::atom(factor)};
    std::set<std::string>& read = result.opaque[factor];
    for (std::size_t i = from; i < to && i < tokens_.size(); ++i) {
      if (tokens_[i].kind != kernel::SourceToken::Kind::identifier) continue;
      std::string name(tokens_[i].text);
      while (i + 2 < to && tokens_[i + 1].is(".")) name += "." + std::string(tokens_[i + 2].text), i += 2;
      if (const auto known = definitions_.find(name); known != definitions_.end()) {
        const auto deeper = known->second.all_read();
        read.insert(deeper.begin(), deeper.end());
      } else {
        read.insert(name);
      }
    }
    return result;
  }

  std::string_view text_;
  std::vector<kernel::SourceToken> tokens_;
  const Definitions& definitions_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

IndexForm index_form(std::string_view expression, const Definitions& definitions) {
  return Parser(expression, definitions).whole();
}

std::set<std::string> IndexForm::all_read() const {
  std::set<std::string> result;
  for (const auto& [factors, times] : value.terms())
    for (const std::string& factor : factors) {
      const auto found = opaque.find(factor);
      if (found == opaque.end()) result.insert(factor);
      else result.insert(found->second.begin(), found->second.end());
    }
  return result;
}

bool IndexForm::reads(const std::string& name) const { return all_read().count(name) != 0; }

bool IndexForm::steps_by_one(const std::string& name) const {
  return !IndexForm{value - kernel::Polynomial::atom(name), opaque}.reads(name);
}

IndexForm sum(const IndexForm& a, const IndexForm& b) { return combined(a.value + b.value, a, b); }

}  // namespace cudal1::rewriter
