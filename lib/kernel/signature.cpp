// SPDX-License-Identifier: Apache-2.0
#include "kernel/signature.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;
using Tokens = std::vector<SourceToken>;

bool is_type_word(std::string_view word) {
  constexpr std::array<std::string_view, 14> words = {"int",  "float", "double", "char",   "short", "long",         "unsigned",
                                                      "signed", "bool",  "void", "__half", "half",  "__restrict__", "restrict"};
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "struct" || word == "typename" || word == "__grid_constant__" ||
         word == "__restrict__" || word == "__restrict";
}

// Splits the tokens (from, to) at commas that stand outside every bracket.
std::vector<std::pair<std::size_t, std::size_t>> split_at_commas(const Tokens& tokens, std::size_t from, std::size_t to) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = from;
  for (std::size_t i = from; i < to; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) {
      i = std::min(matching_bracket(tokens, i), to);
    } else if (tokens[i].is("<")) {
      const std::size_t after = after_template_list(tokens, i);
      if (after > i && after <= to) i = after - 1;
    } else if (tokens[i].is(",")) {
      parts.emplace_back(begin, i);
      begin = i + 1;
    }
  }
  if (begin < to) parts.emplace_back(begin, to);
  return parts;
}

Parameter read_parameter(std::string_view source, const Tokens& tokens, std::size_t from, std::size_t to) {
  Parameter parameter;
  for (std::size_t i = from; i < to; ++i)
    if (tokens[i].is("=")) to = i;  // a default value
  std::size_t array = to;
  for (std::size_t i = from; i < to; ++i) {
    // [[attribute]] belongs to no type.
    if (i == from && tokens[i].is("[") && i + 1 < to && tokens[i + 1].is("[")) from = i = std::min(matching_bracket(tokens, i) + 1, to);
    if (i < to && tokens[i].is("[") && i > from) {
      array = i;
      break;
    }
  }
  for (std::size_t i = from; i < array; ++i) parameter.pointer |= tokens[i].is("*");
  std::size_t name = array;
  if (array > from) {
    const std::size_t last = array - 1;
    const bool word = tokens[last].kind == Kind::identifier && !is_type_word(tokens[last].text) && !is_qualifier(tokens[last].text);
    const bool qualified = last > from && tokens[last - 1].is("::");
    const bool has_type = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(from), tokens.begin() + static_cast<std::ptrdiff_t>(last),
                                      [](const SourceToken& t) { return !is_qualifier(t.text); });
    if (word && !qualified && has_type) name = last;
  }
  if (name < array) parameter.name = std::string(tokens[name].text);
  parameter.type = source_text(source, tokens, from, name);
  if (array < to) {
    parameter.type += "*";
    parameter.pointer = true;
  }
  return parameter;
}

class Finder {
 public:
  explicit Finder(std::string_view source) : source_(source), tokens_(lex_code(source)) {}

  std::vector<Signature> run() {
    while (at_ < tokens_.size()) step();
    return std::move(found_);
  }

 private:
  const SourceToken& token(std::size_t i) const {
    static const SourceToken none;
    return i < tokens_.size() ? tokens_[i] : none;
  }

  void step() {
    const SourceToken& current = tokens_[at_];
    if (current.is("template") && token(at_ + 1).is("<")) {
      const std::size_t after = after_template_list(tokens_, at_ + 1);
      if (after == at_ + 1) {
        ++at_;
        return;
      }
      template_parameters_.clear();
      for (const auto& [from, to] : split_at_commas(tokens_, at_ + 2, after - 1))
        template_parameters_.push_back(source_text(source_, tokens_, from, to));
      specialisation_ = template_parameters_.empty();
      at_ = after;
    } else if (current.is("namespace")) {
      open_namespace();
    } else if (current.is("extern") && token(at_ + 1).kind == Kind::string && token(at_ + 2).is("{")) {
      scopes_.emplace_back();
      at_ += 3;
    } else if (current.is("__global__")) {
      read_kernel();
    } else if (current.is("{")) {
      at_ = matching_bracket(tokens_, at_) + 1;  // the body of a function or class
      end_declaration();
    } else if (current.is("}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      ++at_;
      end_declaration();
    } else {
      if (current.is(";")) end_declaration();
      ++at_;
    }
  }

  void end_declaration() {
    template_parameters_.clear();
    specialisation_ = false;
  }

  void open_namespace() {
    std::string name;
    std::size_t i = at_ + 1;
    while (i < tokens_.size() && !tokens_[i].is("{") && !tokens_[i].is(";") && !tokens_[i].is("=")) {
      if (tokens_[i].kind == Kind::identifier && !tokens_[i].is("inline")) name += (name.empty() ? "" : "::") + std::string(tokens_[i].text);
      ++i;
    }
    if (token(i).is("{")) scopes_.push_back(name);
    at_ = i + 1;  // past `{`, or into what an alias or a using-directive says
  }

  // `at_` is on __global__. The kernel's name is the identifier in front of the bracket whose end is followed by the
  // body: attributes and macros with arguments, such as __launch_bounds__(256), are followed by more words.
  void read_kernel() {
    const int line = tokens_[at_].line;
    for (std::size_t i = at_ + 1; i < tokens_.size(); ++i) {
      if (tokens_[i].is(";") || tokens_[i].is("}") || tokens_[i].is("__global__")) {
        at_ = i;
        return;
      }
      if (tokens_[i].is("<")) {
        const std::size_t after = after_template_list(tokens_, i);
        specialisation_ |= after > i;
        i = std::max(after, i + 1) - 1;
        continue;
      }
      if (tokens_[i].is("[")) {
        i = std::min(matching_bracket(tokens_, i), tokens_.size() - 1);
        continue;
      }
      if (tokens_[i].is("{")) {
        at_ = i;
        return;
      }
      if (!tokens_[i].is("(")) continue;
      const std::size_t close = matching_bracket(tokens_, i);
      if (token(close + 1).is("{")) {
        add_kernel(i, close, line);
        at_ = close + 1;
        return;
      }
      if (token(close + 1).is(";") || close == tokens_.size()) {
        at_ = close + 1;
        return;
      }
      i = close;
    }
    at_ = tokens_.size();
  }

  void add_kernel(std::size_t open, std::size_t close, int line) {
    std::size_t end = open;
    if (end > 0 && tokens_[end - 1].is(">"))  // an explicit specialisation: name<float>(…)
      while (end > at_ && !tokens_[end - 1].is("<")) --end;
    if (end > at_ && tokens_[end - 1].is("<")) --end;
    std::size_t begin = end;
    while (begin > at_ + 1 && (tokens_[begin - 1].is("::") || (tokens_[begin - 1].kind == Kind::identifier && (begin == end || tokens_[begin].is("::"))))) --begin;
    if (begin == end) return;
    Signature signature;
    for (const std::string& scope : scopes_)
      if (!scope.empty()) signature.name += scope + "::";
    for (std::size_t i = begin; i < end; ++i) signature.name += tokens_[i].text;
    signature.line = line;
    signature.template_parameters = template_parameters_;
    for (const auto& [from, to] : split_at_commas(tokens_, open + 1, close))
      if (!(to == from + 1 && tokens_[from].is("void"))) signature.parameters.push_back(read_parameter(source_, tokens_, from, to));
    // A specialisation's parameters follow from the primary template; `#if` branches may define a kernel twice.
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const Signature& other) { return other.name == signature.name; });
    if (!known) found_.push_back(std::move(signature));
  }

  std::string_view source_;
  Tokens tokens_;
  std::size_t at_ = 0;
  std::vector<std::string> scopes_;  // an empty name for extern "C" and unnamed namespaces
  std::vector<std::string> template_parameters_;
  bool specialisation_ = false;
  std::vector<Signature> found_;
};

}  // namespace

std::vector<Signature> signatures(std::string_view source) { return Finder(source).run(); }

KernelName split_kernel_name(std::string_view text) {
  KernelName name;
  const Tokens tokens = lex_code(text);
  std::size_t open = 0;
  while (open < tokens.size() && !tokens[open].is("<")) ++open;
  name.name = source_text(text, tokens, 0, open);
  if (open == tokens.size()) return name;
  name.has_template_list = true;
  std::size_t close = tokens.size();
  while (close > open + 1 && !tokens[close - 1].is(">")) --close;
  for (const auto& [from, to] : split_at_commas(tokens, open + 1, close > open + 1 ? close - 1 : tokens.size()))
    name.template_arguments.push_back(source_text(text, tokens, from, to));
  return name;
}

const Signature* find_signature(const std::vector<Signature>& signatures, std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  for (const Signature& signature : signatures)
    if (signature.name == name) return &signature;
  return nullptr;
}

TemplateParameter split_template_parameter(std::string_view text) {
  TemplateParameter parameter;
  const Tokens tokens = lex_code(text);
  std::size_t end = tokens.size();
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].is("=")) {
      end = i;
      parameter.fallback = source_text(text, tokens, i + 1, tokens.size());
      break;
    }
  if (end > 0 && tokens[end - 1].kind == Kind::identifier) parameter.name = std::string(tokens[end - 1].text);
  parameter.type = !tokens.empty() && (tokens[0].is("typename") || tokens[0].is("class"));
  return parameter;
}

std::vector<std::pair<std::string, std::string>> type_aliases(std::string_view source) {
  std::vector<std::pair<std::string, std::string>> aliases;
  const Tokens all = lex_source(source);
  for (const SourceToken& token : all) {
    if (token.kind != Kind::preprocessor) continue;
    const Tokens words = lex_code(token.text.substr(1));
    if (words.size() < 3 || !words[0].is("define") || words[1].kind != Kind::identifier || words[1].end() == words[2].offset) continue;
    if (std::all_of(words.begin() + 2, words.end(), [](const SourceToken& w) { return w.kind == Kind::identifier || w.is("::"); }))
      aliases.emplace_back(words[1].text, source_text(token.text.substr(1), words, 2, words.size()));
  }
  const Tokens tokens = lex_code(source);
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (!tokens[i].is("using") && !tokens[i].is("typedef")) continue;
    std::size_t end = i;
    while (end < tokens.size() && !tokens[end].is(";") && !tokens[end].is("{")) ++end;
    if (end == tokens.size() || tokens[end].is("{")) continue;
    if (tokens[i].is("using") && tokens[i + 2].is("="))
      aliases.emplace_back(tokens[i + 1].text, source_text(source, tokens, i + 3, end));
    else if (tokens[i].is("typedef") && end > i + 2 && tokens[end - 1].kind == Kind::identifier)
      aliases.emplace_back(tokens[end - 1].text, source_text(source, tokens, i + 1, end - 1));
  }
  return aliases;
}

}  // namespace cudal1::kernel
