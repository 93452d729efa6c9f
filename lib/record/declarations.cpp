// SPDX-License-Identifier: Apache-2.0
#include "record/declarations.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cudal1::record {

namespace {

using kernel::SourceToken;
using Kind = SourceToken::Kind;

bool is_type_key(const SourceToken& token) { return token.is("struct") || token.is("class") || token.is("union") || token.is("enum"); }

// Words that stand before a parenthesis without being what is declared.
bool is_attribute(std::string_view word) {
  static const std::set<std::string_view> words = {"__launch_bounds__", "__align__", "alignas", "__attribute__", "decltype", "noexcept", "__cluster_dims__",
                                                   "__maxnreg__", "sizeof", "explicit", "__declspec"};
  return words.contains(word);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), tokens_(kernel::lex_source(text)) {}

  std::vector<Declaration> run() {
    std::vector<std::string> scopes;
    std::size_t at = 0;
    while (at < tokens_.size()) at = declarations(at, scopes) + 1;
    return std::move(all_);
  }

 private:
  const SourceToken& token(std::size_t i) const {
    static const SourceToken none;
    return i < tokens_.size() ? tokens_[i] : none;
  }
  static bool skipped(const SourceToken& t) { return t.kind == Kind::line_comment || t.kind == Kind::block_comment; }
  std::size_t next(std::size_t i) const {
    do ++i;
    while (i < tokens_.size() && skipped(tokens_[i]));
    return i;
  }
  std::size_t closing(std::size_t open) const { return std::min(kernel::matching_bracket(tokens_, open), tokens_.size() - 1); }

  static constexpr std::size_t nowhere = std::string_view::npos;

  // Declarations up to the `}` that closes the scope; returns its place.
  std::size_t declarations(std::size_t i, std::vector<std::string>& scopes) {
    std::size_t comment = nowhere;            // of those that stand directly before the declaration
    while (i < tokens_.size()) {
      const SourceToken& first = tokens_[i];
      if (first.is("}")) return i;
      if (skipped(first)) {
        if (comment == nowhere) comment = first.offset;
        const std::size_t after = i + 1 < tokens_.size() ? tokens_[i + 1].offset : text_.size();
        if (std::count(text_.begin() + static_cast<std::ptrdiff_t>(first.end()), text_.begin() + static_cast<std::ptrdiff_t>(after), '\n') > 1) comment = nowhere;
        ++i;
        continue;
      }
      if (first.is(";")) {
        ++i;
        comment = nowhere;
        continue;
      }
      if (first.kind == Kind::preprocessor) {
        macro(i);
        ++i;
        comment = nowhere;
        continue;
      }
      std::size_t scope = i;
      if (first.is("inline") && token(next(i)).is("namespace")) scope = next(i);
      const bool linkage = first.is("extern") && token(next(i)).kind == Kind::string && token(next(next(i))).is("{");
      if (token(scope).is("namespace") || linkage) {
        std::size_t open = scope;
        while (open < tokens_.size() && !tokens_[open].is("{") && !tokens_[open].is(";")) open = next(open);
        if (token(open).is("{")) {
          scopes.push_back(std::string(text_.substr(first.offset, tokens_[open].end() - first.offset)));
          i = declarations(open + 1, scopes) + 1;
          scopes.pop_back();
          comment = nowhere;
          continue;
        }
      }
      const std::size_t end = declaration(i, comment == nowhere ? first.offset : comment, scopes);
      i = end + 1;
      comment = nowhere;
    }
    return i;
  }

  static std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const SourceToken& t : kernel::lex_code(text))
      if (t.kind == Kind::identifier) words.emplace_back(t.text);
    return words;
  }

  // `#define NAME …` is a declaration of its own; other lines are dropped.
  void macro(std::size_t i) {
    std::string_view line = base::trim(tokens_[i].text.substr(1));
    if (!line.starts_with("define")) return;
    line = base::trim(line.substr(6));
    Declaration made;
    made.sort = Declaration::Sort::macro;
    made.from = tokens_[i].offset;
    made.to = tokens_[i].end();
    made.on_device = true;
    const auto words = words_of(line);
    if (words.empty()) return;
    made.declares.insert(words.front());
    made.mentions.insert(words.begin() + 1, words.end());
    all_.push_back(std::move(made));
  }

  // Where the parts of a declaration begin.
  struct Parts {
    std::optional<std::size_t> parenthesis, body, equals;
    std::size_t end = 0;   // its last token
  };

  Parts parts_of(std::size_t from, std::size_t head, bool is_typedef, bool typed) const {
    Parts parts;
    parts.end = tokens_.size() - 1;
    std::size_t previous = from;
    for (std::size_t k = head; k < tokens_.size(); k = next(k)) {
      const SourceToken& t = tokens_[k];
      if (t.kind == Kind::preprocessor) continue;
      if (t.is(";")) {
        parts.end = k;
        break;
      }
      if (t.is("}")) {  // the end of the scope: what stands before is no whole declaration
        parts.end = k - 1;
        break;
      }
      if (t.is("=") && !parts.equals) parts.equals = k;
      if (t.is("<") && token(previous).kind == Kind::identifier && !parts.equals) {
        const std::size_t after = kernel::after_template_list(tokens_, k);
        if (after > k + 1 && after < tokens_.size()) {
          k = after - 1;
          previous = k;
          continue;
        }
      }
      if (t.is("(") || t.is("[") || t.is("{")) {
        const std::size_t close = closing(k);
        if (t.is("(") && !parts.parenthesis && !parts.equals && !is_attribute(token(previous).text)) parts.parenthesis = k;
        if (t.is("{")) {
          const bool type_body = is_typedef || (typed && !token(previous).is(")"));
          if (!parts.equals && !type_body && parts.parenthesis) {
            parts.body = k;
            parts.end = close;
            break;
          }
          if (!parts.body) parts.body = k;
        }
        k = close;
      }
      previous = k;
    }
    return parts;
  }

  void note_mentions(Declaration& made, std::size_t from, std::size_t end) const {
    for (std::size_t k = from; k <= end && k < tokens_.size(); ++k) {
      if (tokens_[k].kind == Kind::identifier) made.mentions.emplace(tokens_[k].text);
      if (tokens_[k].kind != Kind::preprocessor) continue;
      for (auto& word : words_of(tokens_[k].text)) made.mentions.insert(std::move(word));
      if (const auto line = base::trim(tokens_[k].text.substr(1)); line.starts_with("define"))
        if (const auto words = words_of(line.substr(6)); !words.empty()) made.declares.insert(words.front());
    }
  }

  // Reads one declaration; returns its last token.
  std::size_t declaration(std::size_t from, std::size_t begin, const std::vector<std::string>& scopes) {
    Declaration made;
    made.from = begin;
    made.scopes = scopes;
    std::size_t head = from;
    const bool is_template = token(head).is("template");
    if (is_template && token(next(head)).is("<")) {
      const std::size_t after = kernel::after_template_list(tokens_, next(head));
      if (after > next(head)) head = after;
      while (head < tokens_.size() && skipped(tokens_[head])) ++head;
    }
    const bool is_typedef = token(head).is("typedef"), is_using = token(head).is("using");
    std::size_t key = head;
    while (token(key).is("static") || token(key).is("const") || token(key).is("constexpr") || token(key).is("extern") || token(key).is("__device__") || token(key).is("__constant__"))
      key = next(key);
    const bool typed = is_type_key(token(key));
    const auto [parenthesis, body, equals, end] = parts_of(from, head, is_typedef, typed);
    made.to = token(end).end();
    note_mentions(made, from, end);
    if (is_using && token(next(head)).is("namespace")) {
      made.always = !made.mentions.contains("std");
      made.on_device = made.always;
      made.sort = Declaration::Sort::other;
    } else if (is_using) {
      made.declares.emplace(last_identifier(head, equals ? *equals : end));
      made.sort = Declaration::Sort::type;
      made.on_device = !(made.mentions.contains("std") && !equals);
    } else if (is_typedef) {
      declare_typedef(made, head, body, end);
    } else if (parenthesis && (body || !equals) && !(typed && body && *body < *parenthesis)) {
      declare_function(made, head, *parenthesis, body.has_value());
    } else if (typed && (body || token(end).is(";"))) {
      declare_type(made, key, body, end);
    } else {
      declare_variable(made, head, end);
      // template <typename T> with nothing else.
      const std::size_t open = next(from);
      if (is_template && token(next(next(next(open)))).is(">")) made.template_parameter = token(next(next(open))).text;
    }
    all_.push_back(std::move(made));
    return end;
  }

  std::string last_identifier(std::size_t from, std::size_t to) const {
    std::string name;
    for (std::size_t k = from; k < to; ++k)
      if (tokens_[k].kind == Kind::identifier) name = tokens_[k].text;
    return name;
  }

  void declare_typedef(Declaration& made, std::size_t head, std::optional<std::size_t> body, std::size_t end) {
    made.sort = Declaration::Sort::type;
    made.on_device = true;
    if (body) declare_tag(made, next(head), *body);
    const std::size_t from = body ? closing(*body) : head;
    for (std::size_t k = from; k < end; ++k) {
      // `typedef int (*function)(float)` and `typedef float row[4]` name what stands before the bracket.
      const SourceToken& after = token(next(k));
      if (tokens_[k].kind == Kind::identifier && (after.is(";") || after.is(",") || after.is(")") || after.is("["))) made.declares.emplace(tokens_[k].text);
    }
  }

  void declare_tag(Declaration& made, std::size_t key, std::size_t body) {
    std::string name;
    for (std::size_t k = key; k < body; k = next(k)) {
      if (tokens_[k].is(":")) break;
      if (tokens_[k].is("(")) {
        k = closing(k);
        continue;
      }
      if (tokens_[k].is("<")) break;
      if (tokens_[k].kind == Kind::identifier && !is_type_key(tokens_[k]) && !is_attribute(tokens_[k].text)) name = tokens_[k].text;
    }
    if (!name.empty()) made.declares.insert(name);
    if (token(key).is("enum"))
      for (std::size_t k = body + 1; k < closing(body); k = next(k))
        if (tokens_[k].kind == Kind::identifier && (token(k - 1).is("{") || token(k - 1).is(",") || skipped(token(k - 1)))) made.declares.emplace(tokens_[k].text);
  }

  void declare_type(Declaration& made, std::size_t key, std::optional<std::size_t> body, std::size_t end) {
    made.sort = Declaration::Sort::type;
    made.on_device = true;
    declare_tag(made, key, body.value_or(end));
    if (body)
      for (std::size_t k = closing(*body); k < end; ++k)
        if (tokens_[k].kind == Kind::identifier) made.declares.emplace(tokens_[k].text);
    if (body && function_without_device(*body, closing(*body))) made.needs_default = true;
  }

  // Members that nvcc takes for host functions and NVRTC refuses.
  bool function_without_device(std::size_t open, std::size_t close) const {
    for (std::size_t k = open + 1; k < close; k = next(k)) {
      if (!tokens_[k].is("(") || !tokens_[k - 1].text.size()) continue;
      const std::size_t after = next(closing(k));
      if (token(after).is("{") || token(after).is("const") || token(after).is(":")) return true;
    }
    return false;
  }

  void declare_function(Declaration& made, std::size_t head, std::size_t parenthesis, bool has_body) {
    made.sort = Declaration::Sort::function;
    std::size_t name = parenthesis;
    do --name;
    while (name > head && skipped(tokens_[name]));
    if (tokens_[name].is(">")) {  // a specialisation: k<float>(
      int depth = 0;
      for (; name > head; --name) {
        depth += tokens_[name].is(">") ? 1 : tokens_[name].is("<") ? -1 : 0;
        if (depth == 0) break;
      }
      --name;
    }
    for (std::size_t k = head; k < parenthesis; ++k) {
      const std::string word(tokens_[k].text);
      if (tokens_[k].kind != Kind::identifier) continue;
      if (word == "operator") made.always = true;
      if (word == "__global__") made.prototype = !has_body, made.says_device = true;
      if (word == "__device__") made.says_device = true;
      if (word == "constexpr") made.on_device = true;
      made.specifiers.insert(word);
    }
    if (tokens_[name].kind == Kind::identifier) made.declares.emplace(tokens_[name].text);
    if (name > head && tokens_[name - 1].is("::") && name > head + 1) made.declares.emplace(tokens_[name - 2].text);
  }

  void declare_variable(Declaration& made, std::size_t head, std::size_t end) {
    made.sort = Declaration::Sort::variable;
    bool device = false, constant = false;
    std::vector<std::size_t> named;
    for (std::size_t k = head; k < end; k = next(k)) {
      const SourceToken& t = tokens_[k];
      if (t.is("__device__") || t.is("__constant__") || t.is("__managed__")) device = true;
      if (t.is("const") || t.is("constexpr")) constant = true;
      if (t.is("{") || t.is("(")) {
        k = closing(k);
        continue;
      }
      const SourceToken& after = token(next(k));
      const bool declarator = after.is("=") || after.is("[") || after.is(",") || after.is(";") || after.is("{");
      if (t.kind != Kind::identifier || !declarator) continue;
      made.declares.emplace(t.text);
      named.push_back(k);
      // Its initialiser is no declarator.
      std::size_t stop = k;
      while (stop < end && !tokens_[stop].is(",")) stop = tokens_[stop].is("[") || tokens_[stop].is("{") || tokens_[stop].is("(") ? next(closing(stop)) : next(stop);
      if (device && named.size() == 1) {
        std::size_t bracket = next(k);
        while (token(bracket).is("[")) bracket = next(closing(bracket));
        made.variable = t.text;
        made.extents = text_.substr(t.end(), token(bracket).offset - t.end());
        for (std::size_t word = head; word < k; word = next(word))
          if (!tokens_[word].text.starts_with("__") && !tokens_[word].is("static") && !tokens_[word].is("extern"))
            made.variable_type += (made.variable_type.empty() ? "" : " ") + std::string(tokens_[word].text);
        made.initialiser_from = token(bracket).offset;
        made.initialiser_to = token(std::min(stop, end)).offset;
      }
      k = stop;
    }
    if (named.size() != 1) made.variable.clear();
    made.on_device = device || constant;
    made.says_device = device;
  }

  const std::string_view text_;
  std::vector<SourceToken> tokens_;
  std::vector<Declaration> all_;
};

}  // namespace

std::vector<Declaration> read_declarations(std::string_view text) { return Reader(text).run(); }

}  // namespace cudal1::record
