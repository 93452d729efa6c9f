// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_expression.hpp"

#include "kernel/ceil_div.hpp"
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
using Tokens = std::vector<SourceToken>;

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

}  // namespace

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

// One token, or the few that belong together, as an expression's text; `i` is left at the last of them.
std::optional<std::string> HostTranslator::number(TokenRange range, std::size_t& i) const {
  const Tokens& tokens = host_.tokens;
  // 1 << 20 of two literals is a number; other shifts are not expressions.
  if (i + 3 < range.to && tokens[i + 1].is("<") && tokens[i + 2].is("<") && tokens[i + 3].kind == Kind::number) {
    const auto left = Expression::parse(tokens[i].text), right = Expression::parse(tokens[i + 3].text);
    const auto a = left ? left->evaluate_integer({}) : tl::unexpected(base::Diagnostic{});
    const auto b = right ? right->evaluate_integer({}) : tl::unexpected(base::Diagnostic{});
    if (!a || !b || *a < 0 || *a > 1024 || *b < 0 || *b > 40) return std::nullopt;
    i += 3;
    return fmt::format("{} ", *a << *b);
  }
  std::string digits(tokens[i].text);
  digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
  return digits + " ";
}

std::optional<std::string> HostTranslator::symbol(TokenRange range, std::size_t& i) const {
  const Tokens& tokens = host_.tokens;
  if (tokens[i].is("(")) {
    // A cast: ( type words ) in front of an operand.
    std::size_t j = i + 1;
    while (j < range.to && (is_type_word(tokens[j].text) || tokens[j].is("::"))) ++j;
    if (j > i + 1 && j < range.to && tokens[j].is(")")) {
      i = j;
      return "";
    }
  }
  static const std::set<std::string_view> allowed = {"(", ")", "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!", "?", ":", ","};
  if (!allowed.contains(tokens[i].text)) return std::nullopt;
  return fmt::format("{} ", tokens[i].text);
}

std::optional<std::string> HostTranslator::word(const Sight& sight, TokenRange range, std::size_t& i) {
  const Tokens& tokens = host_.tokens;
  std::string word(tokens[i].text);
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
  if (i + 1 < range.to && tokens[i + 1].is("(")) return call(word, sight, range, i);
  if (i + 2 < range.to && (tokens[i + 1].is(".") || tokens[i + 1].is("->"))) return part(word, sight, range, i);
  if (word == "true" || word == "false") return word + " ";
  const auto value = name(word, sight.function, sight.at, sight.as_size, sight.depth);
  if (!value) return std::nullopt;
  return *value + " ";
}

// The arguments are read after it, but for those that stay no arguments.
std::optional<std::string> HostTranslator::call(const std::string& word, const Sight& sight, TokenRange range, std::size_t& i) {
  const Tokens& tokens = host_.tokens;
  if (word == "sizeof") {
    const std::size_t close = matching_bracket(tokens, i + 1);
    const auto type = scalar_type(source_text(host_.source, tokens, i + 2, close), {{"scalar_t", "float"}});
    if (close >= range.to || !type) return std::nullopt;
    i = close;
    return fmt::format("{} ", type->size);
  }
  if (is_type_word(word)) return "";  // int(x): the parenthesis stays
  if (word == "min" || word == "max" || word == "fmin" || word == "fmax") return word.ends_with("min") ? "min" : "max";
  if (word == "sqrt" || word == "sqrtf") return "sqrt";
  if (is_ceil_div(word)) return "ceil_div";
  if (word != "ceil" && word != "ceilf") return std::nullopt;
  const std::size_t close = matching_bracket(tokens, i + 1);
  std::size_t slash = i + 2;
  while (slash < close && !tokens[slash].is("/")) {
    if (tokens[slash].is("(")) slash = matching_bracket(tokens, slash);
    ++slash;
  }
  if (close >= range.to || slash >= close) return std::nullopt;
  const auto side = [&](std::size_t from, std::size_t to) { return text({from, to}, sight.function, sight.at, sight.as_size, sight.depth + 1); };
  const auto left = side(i + 2, slash), right = side(slash + 1, close);
  if (!left || !right) return std::nullopt;
  i = close;
  return fmt::format("ceil_div({}, {}) ", *left, *right);
}

// x.size(0), x.numel(), p->width: sizes of those names, or a dim3's extent.
std::optional<std::string> HostTranslator::part(const std::string& word, const Sight& sight, TokenRange range, std::size_t& i) {
  const Tokens& tokens = host_.tokens;
  const std::string_view part = tokens[i + 2].text;
  i += 2;
  if (part == "x" || part == "y" || part == "z")
    if (auto value = member(word, part[0], sight.function, sight.at)) return value;
  std::string size = word + "_" + std::string(part);
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
  return new_size(size) + " ";
}

std::optional<std::string> HostTranslator::text(TokenRange range, std::size_t function, std::size_t at, bool as_size, int depth) {
  if (depth > depth_limit || ++work_ > work_limit || range.to > host_.tokens.size()) return std::nullopt;
  std::string out;
  for (std::size_t i = range.from; i < range.to; ++i) {
    if (out.size() > 2000) return std::nullopt;
    std::optional<std::string> next;
    switch (host_.tokens[i].kind) {
      case Kind::number: next = number(range, i); break;
      case Kind::symbol: next = symbol(range, i); break;
      case Kind::identifier: next = word({function, at, as_size, depth}, range, i); break;
      default: break;
    }
    if (!next) return std::nullopt;
    out += *next;
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

}  // namespace cudal1::kernel
