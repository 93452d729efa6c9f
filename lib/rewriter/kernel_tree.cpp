// SPDX-License-Identifier: Apache-2.0
#include "rewriter/kernel_tree.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::rewriter {
namespace {

using Tokens = std::vector<kernel::SourceToken>;
using Kind = Statement::Kind;

bool is_type_word(std::string_view word) {
  static const std::set<std::string_view> words = {"const", "unsigned", "signed", "int",  "long",   "short", "char",
                                                   "float", "double",   "bool",   "auto", "size_t", "half",  "__half"};
  return words.count(word) != 0;
}

class Reader {
 public:
  Reader(const std::string& source, std::size_t from, std::size_t to)
      : source_(std::string_view(source).substr(from, to - from)), tokens_(kernel::lex_source(source_)) {
    const auto is_comment = [](const kernel::SourceToken& token) {
      return token.kind == kernel::SourceToken::Kind::line_comment || token.kind == kernel::SourceToken::Kind::block_comment;
    };
    tokens_.erase(std::remove_if(tokens_.begin(), tokens_.end(), is_comment), tokens_.end());
  }

  std::vector<Statement> all() {
    std::vector<Statement> result;
    while (at_ < tokens_.size()) statement(result);
    return result;
  }

 private:
  bool is(std::string_view word) const { return at_ < tokens_.size() && tokens_[at_].is(word); }
  std::string text(std::size_t from, std::size_t to) const { return kernel::source_text(source_, tokens_, from, to); }

  std::size_t closing(std::size_t open) const { return std::min(kernel::matching_bracket(tokens_, open), tokens_.size()); }

  // The next `word` outside of brackets, or `to`.
  std::size_t find(std::string_view word, std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      if (tokens_[i].is(word)) return i;
      if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{")) i = closing(i);
    }
    return to;
  }

  std::vector<Statement> one() {
    std::vector<Statement> result;
    if (is("{")) {
      const std::size_t end = closing(at_);
      ++at_;
      while (at_ < end) statement(result);
      at_ = end + 1;
    } else {
      statement(result);
    }
    return result;
  }

  // Where the brackets behind a keyword close, which then are passed.
  std::size_t bracketed() {
    const std::size_t end = closing(at_ + 1);
    at_ = end + 1;
    return end;
  }

  std::vector<Statement> branch() { return at_ < tokens_.size() ? one() : std::vector<Statement>{}; }

  void statement(std::vector<Statement>& to) {
    Statement result;
    const std::size_t start = at_;
    const bool brackets = at_ + 1 < tokens_.size() && tokens_[at_ + 1].is("(");
    if (is(";")) {
      ++at_;
      return;
    }
    if (tokens_[at_].kind == kernel::SourceToken::Kind::preprocessor) {
      result.text = std::string(tokens_[at_++].text);
    } else if (is("{")) {
      result.kind = Kind::block;
      result.body = one();
    } else if (is("if") && brackets) {
      result.kind = Kind::condition;
      result.text = text(start + 2, bracketed());
      result.body = branch();
      if (is("else")) {
        ++at_;
        result.otherwise = branch();
      }
    } else if (is("for") && brackets) {
      const bool counted = header(start + 2, bracketed(), result);
      result.kind = counted ? Kind::loop : Kind::other;
      result.body = branch();
      if (!counted) result.text = text(start, std::min(at_, tokens_.size())), result.body.clear();
    } else {
      const std::size_t end = find(";", at_, tokens_.size());
      at_ = end + 1;
      if (!tokens_[start].is("return") && !tokens_[start].is("continue") && !tokens_[start].is("break"))
        return declarations_or_expression(start, end, to);
      result.kind = end == start + 1 ? Kind::leave : Kind::other;
      result.text = text(start, end);
    }
    to.push_back(std::move(result));
  }

  // `int i = 0; i < M; ++i`
  bool header(std::size_t from, std::size_t to, Statement& loop) const {
    const std::size_t first = find(";", from, to), second = find(";", first + 1, to);
    if (second >= to) return false;
    std::vector<Statement> start;
    declarations_or_expression(from, first, start);
    if (start.size() != 1 || start[0].kind != Kind::declaration || start[0].value.empty()) return false;
    loop.type = start[0].type;
    loop.name = start[0].name;
    loop.value = start[0].value;
    if (first + 2 >= second || tokens_[first + 1].text != loop.name || !tokens_[first + 2].is("<")) return false;
    loop.below = text(first + 3, second);
    const std::string step = text(second + 1, to);
    return step == "++" + loop.name || step == "++ " + loop.name || step == loop.name + "++" || step == loop.name + " ++" ||
           step == loop.name + " += 1";
  }

  void declarations_or_expression(std::size_t from, std::size_t to, std::vector<Statement>& result) const {
    std::size_t name = from;
    while (name < to && (is_type_word(tokens_[name].text) || tokens_[name].is("*") || tokens_[name].is("__restrict__"))) ++name;
    Statement statement;
    statement.text = text(from, to);
    if (name == from || name >= to || tokens_[name].kind != kernel::SourceToken::Kind::identifier) {
      const auto unknown = [](const kernel::SourceToken& token) { return token.is("__shared__") || token.is("while") || token.is("do") || token.is("switch") || token.is("asm"); };
      const bool two_words = from + 1 < to && tokens_[from].kind == kernel::SourceToken::Kind::identifier &&
                             tokens_[from + 1].kind == kernel::SourceToken::Kind::identifier;
      const bool plain = !two_words && std::none_of(tokens_.begin() + static_cast<std::ptrdiff_t>(from),
                                                    tokens_.begin() + static_cast<std::ptrdiff_t>(to), unknown);
      statement.kind = plain && from < to ? Kind::expression : Kind::other;
      result.push_back(std::move(statement));
      return;
    }
    const std::string type = text(from, name);
    for (std::size_t start = name; start < to;) {
      const std::size_t end = find(",", start, to);
      Statement each;
      each.kind = Kind::declaration;
      each.type = type;
      each.name = std::string(tokens_[start].text);
      if (start + 1 < end && tokens_[start + 1].is("=")) {
        each.value = text(start + 2, end);
      } else if (start + 1 != end) {  // an array, or initialised by brackets
        result.push_back(std::move(statement));
        return;
      }
      result.push_back(std::move(each));
      start = end + 1;
    }
  }

  std::string_view source_;
  Tokens tokens_;
  std::size_t at_ = 0;
};

void change(std::vector<Statement>& body, const std::function<std::string(const std::string&)>& each) {
  for (Statement& statement : body) {
    for (std::string* text : {&statement.text, &statement.value, &statement.below}) *text = each(*text);
    change(statement.body, each);
    change(statement.otherwise, each);
  }
}

}  // namespace

std::optional<KernelTree> kernel_tree(const std::string& source, const std::string& name) {
  const auto signatures = kernel::signatures(source);
  const kernel::Signature* signature = kernel::find_signature(signatures, name);
  if (signature == nullptr || !signature->template_parameters.empty()) return std::nullopt;
  const Tokens tokens = kernel::lex_code(source);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("__global__") || !tokens[i + 1].is("void") || tokens[i + 2].text != name) continue;
    if (i > 0 && !tokens[i - 1].is("}") && !tokens[i - 1].is(";")) return std::nullopt;
    const std::size_t list = i + 3;
    if (list >= tokens.size() || !tokens[list].is("(")) continue;
    const std::size_t open = kernel::matching_bracket(tokens, list) + 1;
    if (open >= tokens.size() || !tokens[open].is("{")) continue;
    const std::size_t close = kernel::matching_bracket(tokens, open);
    if (close >= tokens.size()) return std::nullopt;
    KernelTree tree{*signature, tokens[i].offset, tokens[open].offset, tokens[close].end(), {}};
    tree.body = Reader(source, tokens[open].end(), tokens[close].offset).all();
    return tree;
  }
  return std::nullopt;
}

std::optional<std::pair<std::size_t, std::size_t>> parameter_brackets(const std::string& source, const std::string& name) {
  const Tokens tokens = kernel::lex_code(source);
  bool global = false;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("__global__")) global = true;
    if (tokens[i].is("{") || tokens[i].is(";")) global = false;
    if (!global || tokens[i].text != name || !tokens[i + 1].is("(")) continue;
    const std::size_t close = kernel::matching_bracket(tokens, i + 1);
    if (close < tokens.size()) return std::pair(tokens[i + 1].offset, tokens[close].offset);
  }
  return std::nullopt;
}

std::string print(const std::vector<Statement>& body, int indent) {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  std::string result;
  for (const Statement& each : body) {
    switch (each.kind) {
      case Kind::declaration:
        result += fmt::format("{}{} {}{};\n", space, each.type, each.name, each.value.empty() ? "" : " = " + each.value);
        break;
      case Kind::condition:
        result += fmt::format("{}if ({}) {{\n{}{}}}", space, each.text, print(each.body, indent + 2), space);
        if (!each.otherwise.empty()) result += fmt::format(" else {{\n{}{}}}", print(each.otherwise, indent + 2), space);
        result += "\n";
        break;
      case Kind::loop:
        result += fmt::format("{0}for ({1} {2} = {3}; {2} < {4}; ++{2}) {{\n{5}{0}}}\n", space, each.type, each.name, each.value,
                              each.below, print(each.body, indent + 2));
        break;
      case Kind::block: result += fmt::format("{0}{{\n{1}{0}}}\n", space, print(each.body, indent + 2)); break;
      case Kind::other: result += each.text.rfind('#', 0) == 0 ? each.text + "\n" : space + each.text + ";\n"; break;
      default: result += space + each.text + ";\n";
    }
  }
  return result;
}

std::optional<Assignment> assignment(const std::string& expression) {
  const Tokens tokens = kernel::lex_code(expression);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("[")) {
      i = kernel::matching_bracket(tokens, i);
      continue;
    }
    const bool plain = tokens[i].is("="), compound = tokens[i].is("+=") || tokens[i].is("-=") || tokens[i].is("*=") || tokens[i].is("/=");
    if (!plain && !compound) continue;
    if (i == 0 || (plain && tokens[i - 1].kind == kernel::SourceToken::Kind::symbol && !tokens[i - 1].is("]"))) return std::nullopt;
    return Assignment{kernel::source_text(expression, tokens, 0, i), std::string(tokens[i].text),
                      kernel::source_text(expression, tokens, i + 1, tokens.size())};
  }
  return std::nullopt;
}

std::vector<Access> accesses(const std::string& text) {
  const Tokens tokens = kernel::lex_code(text);
  std::vector<Access> result;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != kernel::SourceToken::Kind::identifier || !tokens[i + 1].is("[")) continue;
    const std::size_t close = kernel::matching_bracket(tokens, i + 1);
    if (close >= tokens.size()) break;
    result.push_back({std::string(tokens[i].text), kernel::source_text(text, tokens, i + 2, close), tokens[i].offset, tokens[close].end()});
  }
  return result;
}

std::set<std::string> certain_accesses(const std::vector<Statement>& body) {
  std::set<std::string> result;
  for (const Statement& each : body) {
    if (each.kind != Kind::declaration && each.kind != Kind::expression && each.kind != Kind::condition) continue;
    const std::string& text = each.kind == Kind::declaration ? each.value : each.text;
    const std::size_t asked = std::min({text.find('?'), text.find("&&"), text.find("||")});
    for (const Access& access : accesses(text))
      if (access.begin < asked) result.insert(access.key());
  }
  return result;
}

void visit(const std::vector<Statement>& body, const std::function<void(const Statement&, int depth)>& each, int depth) {
  for (const Statement& statement : body) {
    each(statement, depth);
    visit(statement.body, each, depth + 1);
    visit(statement.otherwise, each, depth + 1);
  }
}

std::vector<std::string> expressions(const std::vector<Statement>& body) {
  std::vector<std::string> result;
  visit(body, [&](const Statement& each, int) {
    for (const std::string* text : {&each.text, &each.value, &each.below})
      if (!text->empty()) result.push_back(*text);
  });
  return result;
}

std::set<std::string> changed_names(const std::vector<Statement>& body) {
  std::set<std::string> result;
  for (const std::string& text : expressions(body)) {
    const Tokens tokens = kernel::lex_code(text);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != kernel::SourceToken::Kind::identifier) continue;
      const bool before = i > 0 && (tokens[i - 1].is("++") || tokens[i - 1].is("--") || tokens[i - 1].is("&"));
      std::size_t next = i + 1;
      while (next < tokens.size() && (tokens[next].is("%") || tokens[next].is("&") || tokens[next].is("|") || tokens[next].is("^"))) ++next;
      const bool after = next < tokens.size() &&
                         (tokens[next].is("=") || tokens[next].is("+=") || tokens[next].is("-=") || tokens[next].is("*=") ||
                          tokens[next].is("/=") || tokens[next].is("++") || tokens[next].is("--"));
      if (before || after) result.insert(std::string(tokens[i].text));
    }
  }
  return result;
}

bool any_of(const std::vector<Statement>& body, std::initializer_list<Kind> kinds) {
  bool any = false;
  visit(body, [&](const Statement& each, int) { any = any || std::find(kinds.begin(), kinds.end(), each.kind) != kinds.end(); });
  return any;
}

const Statement* declaration(const std::vector<Statement>& body, const std::string& name) {
  const auto found = std::find_if(body.begin(), body.end(), [&](const Statement& each) { return each.kind == Kind::declaration && each.name == name; });
  return found == body.end() ? nullptr : &*found;
}

bool names(std::string_view text, std::string_view word) {
  const Tokens tokens = kernel::lex_code(text);
  return std::any_of(tokens.begin(), tokens.end(), [&](const auto& token) { return token.text == word; });
}

std::string with_words(const std::string& text, const std::map<std::string, std::string>& words) {
  std::string result;
  std::size_t done = 0;
  const Tokens tokens = kernel::lex_code(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"))) continue;
    const auto found = words.find(std::string(tokens[i].text));
    if (found == words.end()) continue;
    result += text.substr(done, tokens[i].offset - done) + found->second;
    done = tokens[i].end();
  }
  return result + text.substr(done);
}

std::vector<Statement> rewritten(std::vector<Statement> body, const std::map<std::string, std::string>& words) {
  change(body, [&](const std::string& text) { return with_words(text, words); });
  return body;
}

std::vector<Statement> with_accesses(std::vector<Statement> body, const std::map<std::string, std::string>& held) {
  change(body, [&](const std::string& text) {
    std::string result;
    std::size_t done = 0;
    for (const Access& access : accesses(text)) {
      const auto found = held.find(access.key());
      if (access.begin < done || found == held.end()) continue;
      result += text.substr(done, access.begin - done) + found->second;
      done = access.end;
    }
    return result + text.substr(done);
  });
  return body;
}

}  // namespace cudal1::rewriter
