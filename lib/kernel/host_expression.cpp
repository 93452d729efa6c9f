// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_expression.hpp"

#include "kernel/expression_node.hpp"
#include "kernel/names.hpp"
#include "kernel/parameter_type.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;
using Node = Expression::Node;
using Tokens = std::vector<SourceToken>;

constexpr int depth_limit = 12;
constexpr int work_limit = 4000;

bool is_type_word(std::string_view word) {
  static const std::set<std::string_view> words = {"int",      "unsigned", "long",    "short",    "size_t",  "float",   "double",
                                                   "uint32_t", "int32_t",  "int64_t", "uint64_t", "uint",    "const",   "char",
                                                   "signed",   "bool",     "ssize_t", "ptrdiff_t", "half",   "__half",  "uint8_t", "int8_t"};
  return words.contains(word);
}

bool is_ceil_div(std::string_view word) {
  std::string plain;
  for (const char c : word)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain == "ceildiv" || plain == "cdiv" || plain == "divup" || plain == "idivup" || plain == "divceil" || plain == "divideup" ||
         plain == "roundupdiv" || plain == "ceildivide" || plain == "udivup" || plain == "ceiling" || plain == "divroundup" || plain == "updiv";
}

Node::Pointer make(Node::Kind kind, std::string text, std::vector<Node::Pointer> children) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->text = std::move(text);
  for (const auto& child : children) node->depth = std::max(node->depth, child->depth + 1);
  node->file = std::make_shared<const std::string>();
  node->children = std::move(children);
  return node;
}

bool is_one(const Node& node) { return node.kind == Node::Kind::integer && node.integer == 1; }
std::string text_of(const Node::Pointer& node) { return Expression(node).text(); }

// What is left of a sum when `divisor - 1` is taken out of it, or null.
Node::Pointer without_rounding(const Node::Pointer& sum, const Node::Pointer& divisor) {
  if (sum->kind != Node::Kind::binary) return nullptr;
  const auto& left = sum->children[0];
  const auto& right = sum->children[1];
  if (sum->text == "+") {
    if (right->kind == Node::Kind::integer && divisor->kind == Node::Kind::integer && right->integer == divisor->integer - 1) return left;
    if (right->kind == Node::Kind::binary && right->text == "-" && is_one(*right->children[1]) && text_of(right->children[0]) == text_of(divisor)) return left;
    // (a - 1 + b)
    if (text_of(right) == text_of(divisor) && left->kind == Node::Kind::binary && left->text == "-" && is_one(*left->children[1])) return left->children[0];
  }
  if (sum->text == "-" && is_one(*right) && left->kind == Node::Kind::binary && left->text == "+") {
    if (text_of(left->children[1]) == text_of(divisor)) return left->children[0];
    if (text_of(left->children[0]) == text_of(divisor)) return left->children[1];
  }
  return nullptr;
}

Node::Pointer rewrite(const Node::Pointer& node) {
  std::vector<Node::Pointer> children;
  for (const auto& child : node->children) children.push_back(rewrite(child));
  if (node->kind == Node::Kind::binary && node->text == "/")
    if (const auto rest = without_rounding(children[0], children[1])) return make(Node::Kind::call, "ceil_div", {rest, children[1]});
  if (node->kind == Node::Kind::binary && node->text == "+" && is_one(*children[1])) {
    const auto& quotient = children[0];
    if (quotient->kind == Node::Kind::binary && quotient->text == "/" && quotient->children[0]->kind == Node::Kind::binary &&
        quotient->children[0]->text == "-" && is_one(*quotient->children[0]->children[1]))
      return make(Node::Kind::call, "ceil_div", {quotient->children[0]->children[0], quotient->children[1]});
  }
  auto copy = std::make_shared<Node>(*node);
  copy->children = std::move(children);
  return copy;
}

}  // namespace

Expression with_ceil_div(const Expression& expression) {
  if (expression.empty()) return expression;
  return Expression(rewrite(Node::Pointer(Node::Pointer(), expression.root())));
}

HostTranslator::HostTranslator(const HostSource& host) : host_(host) {
  for (const SourceToken& line : lex_source(host.source)) {
    if (line.kind != Kind::preprocessor) continue;
    const std::string_view text = line.text.substr(1);
    const Tokens words = lex_code(text);
    if (words.size() < 3 || !words[0].is("define") || words[1].kind != Kind::identifier || words[1].end() == words[2].offset) continue;
    macros_[std::string(words[1].text)] = source_text(text, words, 2, words.size());
  }
}

std::optional<TokenRange> HostTranslator::definition(std::string_view name, std::size_t function, std::size_t at) const {
  const Tokens& tokens = host_.tokens;
  const TokenRange body = host_.functions[function].body;
  for (std::size_t i = std::min(at, body.to); i-- > body.from;) {
    if (!tokens[i].is(name) || i + 1 >= tokens.size()) continue;
    const bool member = i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
    if (member) continue;
    std::size_t from = 0;
    if (tokens[i + 1].is("=")) {
      // The variable of a loop has no one value.
      std::size_t begin = i;
      while (begin > body.from && (tokens[begin - 1].kind == Kind::identifier || tokens[begin - 1].is("::"))) --begin;
      if (begin > body.from + 1 && tokens[begin - 1].is("(")) return std::nullopt;
      from = i + 2;
    } else if ((tokens[i + 1].is("(") || tokens[i + 1].is("{")) && i > body.from) {
      std::size_t begin = i;
      while (begin > body.from && !tokens[begin - 1].is(";") && !tokens[begin - 1].is("{") && !tokens[begin - 1].is("}")) --begin;
      while (begin < i && tokens[begin].is("const")) ++begin;
      if (begin == i || !(tokens[begin].is("dim3") || is_type_word(tokens[begin].text))) continue;
      const bool declared = tokens[i - 1].is(",") || tokens[i - 1].kind == Kind::identifier;
      if (!declared) continue;
      return TokenRange{i + 1, std::min(matching_bracket(tokens, i + 1) + 1, body.to)};
    } else {
      continue;
    }
    std::size_t to = from;
    while (to < body.to && !tokens[to].is(",") && !tokens[to].is(";")) {
      if (tokens[to].is("(") || tokens[to].is("{") || tokens[to].is("[")) to = matching_bracket(tokens, to);
      ++to;
    }
    return TokenRange{from, std::min(to, body.to)};
  }
  return std::nullopt;
}

std::string HostTranslator::new_size(const std::string& wanted) {
  std::string size = wanted;
  if (!reserved_for(size).empty()) size += "_";
  sizes_.try_emplace(size);
  return size;
}

std::optional<std::string> HostTranslator::global(const std::string& word, std::size_t function, std::size_t at, int depth) {
  if (const auto macro = macros_.find(word); macro != macros_.end()) {
    const auto expression = Expression::parse(macro->second);
    if (expression && expression->names().empty()) return "(" + expression->text() + ")";
    if (depth >= depth_limit) return std::nullopt;
    // A macro of macros: its words are looked up here again.
    std::string out;
    for (const SourceToken& token : lex_code(macro->second)) {
      if (token.kind == Kind::identifier) {
        const auto value = token.text == word ? std::nullopt : global(std::string(token.text), function, at, depth + 1);
        if (!value) return std::nullopt;
        out += *value;
      } else {
        out += fmt::format(" {} ", token.text);
      }
      if (out.size() > 500) return std::nullopt;
    }
    return "(" + out + ")";
  }
  // A constant at namespace scope: `const int N = 1 << 20;`
  const Tokens& tokens = host_.tokens;
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is(word) || !tokens[i + 1].is("=")) continue;
    const bool inside = std::any_of(host_.functions.begin(), host_.functions.end(),
                                    [&](const HostFunction& f) { return i >= f.body.from && i < f.body.to; });
    if (inside) continue;
    std::size_t begin = i;
    while (begin > 0 && (tokens[begin - 1].kind == Kind::identifier || tokens[begin - 1].is("::"))) --begin;
    const bool constant = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                                      [](const SourceToken& t) { return t.is("const") || t.is("constexpr") || is_type_word(t.text); });
    if (!constant) continue;
    std::size_t to = i + 2;
    while (to < tokens.size() && !tokens[to].is(";") && !tokens[to].is(",")) ++to;
    return text({i + 2, to}, function, at, false, depth + 1);
  }
  return std::nullopt;
}

// `threads.x` of a dim3 in sight.
std::optional<std::string> HostTranslator::member(const std::string& word, char axis, std::size_t function, std::size_t at) {
  const auto found = definition(word, function, at);
  if (!found || nesting_ >= depth_limit) return std::nullopt;
  const auto dimensions = translate_dim3(*found, function, found->from);
  if (!dimensions) return std::nullopt;
  const auto index = static_cast<std::size_t>(axis - 'x');
  return index < dimensions->parts.size() ? "(" + dimensions->parts[index].text() + ") " : "1 ";
}

std::optional<std::string> HostTranslator::name(const std::string& word, std::size_t function, std::size_t at, bool as_size, int depth) {
  if (sizes_.contains(word)) return word;
  if (depth < depth_limit) {
    if (const auto range = definition(word, function, at)) {
      if (range->from >= range->to) return std::nullopt;
      const auto before = sizes_;
      auto value = text(*range, function, range->from, false, depth + 1);
      if (value) {
        const auto expression = Expression::parse(*value);
        if (!expression) return std::nullopt;
        // `n = x.numel()`: the author's name for it is the better one.
        if (expression->names().size() == 1 && expression->text() == expression->names()[0] && !before.contains(expression->text())) {
          sizes_ = before;
          return new_size(word);
        }
        if (!as_size) return "(" + *value + ")";
        const std::string size = new_size(word);
        const auto names = expression->names();
        const bool own = std::find(names.begin(), names.end(), size) != names.end();  // `n = n + 1` gives n no value
        if (!own && sizes_[size].empty()) sizes_[size] = with_ceil_div(*expression);
        return size;
      }
      // What it stands for is beyond expressions: `atoi(argv[1])`.
      sizes_ = before;
      return new_size(word);
    }
    if (auto value = global(word, function, at, depth + 1)) {
      if (!as_size) return value;
      const auto expression = Expression::parse(*value);
      if (!expression) return value;
      const std::string size = new_size(word);
      if (sizes_[size].empty()) sizes_[size] = *expression;
      return size;
    }
  }
  return new_size(word);
}

std::optional<std::string> HostTranslator::text(TokenRange range, std::size_t function, std::size_t at, bool as_size, int depth) {
  if (depth > depth_limit || ++work_ > work_limit || range.to > host_.tokens.size()) return std::nullopt;
  const Tokens& tokens = host_.tokens;
  std::string out;
  for (std::size_t i = range.from; i < range.to; ++i) {
    const SourceToken& token = tokens[i];
    if (out.size() > 2000) return std::nullopt;
    if (token.kind == Kind::number) {
      // 1 << 20 of two literals is a number; other shifts are not expressions.
      if (i + 3 < range.to && tokens[i + 1].is("<") && tokens[i + 2].is("<") && tokens[i + 3].kind == Kind::number) {
        const auto left = Expression::parse(token.text), right = Expression::parse(tokens[i + 3].text);
        const auto a = left ? left->evaluate_integer({}) : tl::unexpected(base::Diagnostic{});
        const auto b = right ? right->evaluate_integer({}) : tl::unexpected(base::Diagnostic{});
        if (!a || !b || *a < 0 || *a > 1024 || *b < 0 || *b > 40) return std::nullopt;
        out += fmt::format("{} ", *a << *b);
        i += 3;
        continue;
      }
      std::string digits(token.text);
      digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
      out += digits + " ";
    } else if (token.kind == Kind::symbol) {
      if (token.is("(")) {
        // A cast: ( type words ) in front of an operand.
        std::size_t j = i + 1;
        while (j < range.to && (is_type_word(tokens[j].text) || tokens[j].is("::"))) ++j;
        if (j > i + 1 && j < range.to && tokens[j].is(")")) {
          i = j;
          continue;
        }
      }
      static const std::set<std::string_view> allowed = {"(", ")", "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!", "?", ":", ","};
      if (!allowed.contains(token.text)) return std::nullopt;
      out += fmt::format("{} ", token.text);
    } else if (token.kind == Kind::identifier) {
      std::string word(token.text);
      while (word == "std" || word == "at" || word == "cuda" || word == "c10") {  // std::min
        if (i + 2 >= range.to || !tokens[i + 1].is("::")) break;
        i += 2;
        word = std::string(tokens[i].text);
      }
      if (i + 1 < range.to && tokens[i + 1].is("<")) {  // static_cast<int>(x), max<int>(a, b)
        const std::size_t after = after_template_list(tokens, i + 1);
        if (after > i + 1 && after < range.to && tokens[after].is("(")) {
          if (word.ends_with("_cast")) word = "int";
          i = after - 1;
        }
      }
      const bool call = i + 1 < range.to && tokens[i + 1].is("(");
      if (word == "sizeof" && call) {
        const std::size_t close = matching_bracket(tokens, i + 1);
        const auto type = scalar_type(source_text(host_.source, tokens, i + 2, close), {{"scalar_t", "float"}});
        if (close >= range.to || !type) return std::nullopt;
        out += fmt::format("{} ", type->size);
        i = close;
      } else if (call && is_type_word(word)) {
        continue;  // int(x): the parenthesis stays
      } else if (call && (word == "min" || word == "max" || word == "fmin" || word == "fmax")) {
        out += word.ends_with("min") ? "min" : "max";
      } else if (call && (word == "sqrt" || word == "sqrtf")) {
        out += "sqrt";
      } else if (call && is_ceil_div(word)) {
        out += "ceil_div";
      } else if (call && (word == "ceil" || word == "ceilf")) {
        const std::size_t close = matching_bracket(tokens, i + 1);
        std::size_t slash = i + 2;
        while (slash < close && !tokens[slash].is("/")) {
          if (tokens[slash].is("(")) slash = matching_bracket(tokens, slash);
          ++slash;
        }
        if (close >= range.to || slash >= close) return std::nullopt;
        const auto left = text({i + 2, slash}, function, at, as_size, depth + 1), right = text({slash + 1, close}, function, at, as_size, depth + 1);
        if (!left || !right) return std::nullopt;
        out += fmt::format("ceil_div({}, {}) ", *left, *right);
        i = close;
      } else if (i + 2 < range.to && (tokens[i + 1].is(".") || tokens[i + 1].is("->"))) {
        const std::string_view part = tokens[i + 2].text;
        if (part == "x" || part == "y" || part == "z")
          if (const auto value = member(word, part[0], function, at)) {
            out += *value;
            i += 2;
            continue;
          }
        // x.size(0), x.numel(), p->width: sizes of those names.
        std::string size = word + "_" + std::string(tokens[i + 2].text);
        i += 2;
        if (i + 1 < range.to && tokens[i + 1].is("(")) {
          const std::size_t close = matching_bracket(tokens, i + 1);
          if (close >= range.to || close > i + 3) return std::nullopt;
          if (close == i + 3) {
            if (tokens[i + 2].kind != Kind::number) return std::nullopt;
            size += std::string(tokens[i + 2].text);
          }
          i = close;
        }
        if (i + 1 < range.to && (tokens[i + 1].is(".") || tokens[i + 1].is("->"))) return std::nullopt;
        out += new_size(size) + " ";
      } else if (call) {
        return std::nullopt;
      } else if (word == "true" || word == "false") {
        out += word + " ";
      } else {
        const auto value = name(word, function, at, as_size, depth);
        if (!value) return std::nullopt;
        out += *value + " ";
      }
    } else {
      return std::nullopt;
    }
  }
  if (!Expression::parse(out)) return std::nullopt;
  return out;
}

std::optional<Expression> HostTranslator::translate(TokenRange range, std::size_t function, std::size_t at, bool as_size) {
  if (nesting_ == 0) work_ = 0;
  if (nesting_ >= depth_limit) return std::nullopt;
  const auto sizes = sizes_;
  ++nesting_;
  const auto out = text(range, function, at, as_size, 0);
  --nesting_;
  const auto expression = out ? Expression::parse(*out) : tl::unexpected(base::Diagnostic{});
  if (!expression) {
    sizes_ = sizes;  // names met on the way are of no use
    return std::nullopt;
  }
  return with_ceil_div(*expression);
}

std::optional<std::int64_t> HostTranslator::constant(const std::string& word, std::size_t function, std::size_t at) {
  const auto sizes = sizes_;
  sizes_.erase(word);
  work_ = 0;
  const auto value = name(word, function, at, false, 0);
  sizes_ = sizes;
  const auto expression = value ? Expression::parse(*value) : tl::unexpected(base::Diagnostic{});
  if (!expression) return std::nullopt;
  const auto integer = expression->evaluate_integer({});
  return integer ? std::optional<std::int64_t>(*integer) : std::nullopt;
}

std::optional<HostTranslator::Dimensions> HostTranslator::translate_dim3(TokenRange range, std::size_t function, std::size_t at) {
  const Tokens& tokens = host_.tokens;
  for (int depth = 0; depth < depth_limit; ++depth) {
    if (range.from >= range.to) return std::nullopt;
    // dim3(a, b), dim3{a, b}, or the brackets alone, as a variable's definition gives them
    std::size_t open = range.from;
    if (tokens[open].is("dim3")) ++open;
    const bool bracket = open < range.to && (tokens[open].is("(") || tokens[open].is("{")) && matching_bracket(tokens, open) == range.to - 1;
    if (bracket && (open > range.from || tokens[open].is("{") || split_arguments(tokens, open + 1, range.to - 1).size() > 1)) {
      Dimensions dimensions;
      for (const TokenRange part : split_arguments(tokens, open + 1, range.to - 1)) {
        const auto expression = translate(part, function, at, false);
        if (!expression) return std::nullopt;
        dimensions.parts.push_back(*expression);
      }
      if (dimensions.parts.empty() || dimensions.parts.size() > 3) return std::nullopt;
      while (dimensions.parts.size() > 1 && dimensions.parts.back().text() == "1") dimensions.parts.pop_back();
      return dimensions;
    }
    if (range.to == range.from + 1 && tokens[range.from].kind == Kind::identifier) {
      const std::string_view word = tokens[range.from].text;
      if (const auto found = definition(word, function, at)) {
        at = found->from;
        range = *found;
        continue;
      }
      // dim3 grid; grid.x = …; grid.y = …;
      Dimensions dimensions;
      const TokenRange body = host_.functions[function].body;
      for (std::size_t i = body.from; i + 3 < std::min(at, body.to); ++i) {
        if (!tokens[i].is(word) || !tokens[i + 1].is(".") || !tokens[i + 3].is("=")) continue;
        const std::size_t axis = tokens[i + 2].is("x") ? 0 : tokens[i + 2].is("y") ? 1 : 2;
        std::size_t to = i + 4;
        while (to < body.to && !tokens[to].is(";")) ++to;
        const auto expression = translate({i + 4, to}, function, i, false);
        if (!expression) return std::nullopt;
        while (dimensions.parts.size() <= axis) dimensions.parts.push_back(Expression::literal(1));
        dimensions.parts[axis] = *expression;
      }
      if (!dimensions.parts.empty()) return dimensions;
    }
    const auto expression = translate(range, function, at, false);
    if (!expression) return std::nullopt;
    return Dimensions{{*expression}};
  }
  return std::nullopt;
}

}  // namespace cudal1::kernel
