// SPDX-License-Identifier: Apache-2.0
#include "kernel/macros.hpp"

#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;
using Tokens = std::vector<SourceToken>;

struct Macro {
  bool function = false;
  std::vector<std::string> parameters;
  std::string body;
};

std::string joined_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      out += ' ';
      i += text[i + 1] == '\r' ? 2 : 1;
      continue;
    }
    out += text[i];
  }
  return out;
}

class Expander {
 public:
  explicit Expander(std::string_view source) {
    for (const SourceToken& line : lex_source(source)) {
      if (line.kind != Kind::preprocessor) continue;
      const std::string text = joined_lines(line.text.substr(1));
      const Tokens words = lex_code(text);
      if (words.size() < 2 || !words[0].is("define") || words[1].kind != Kind::identifier) continue;
      Macro macro;
      std::size_t body = 2;
      if (words.size() > 2 && words[2].is("(") && words[2].offset == words[1].end()) {
        macro.function = true;
        const std::size_t close = matching_bracket(words, 2);
        if (close >= words.size()) continue;
        for (std::size_t i = 3; i < close; ++i)
          if (words[i].kind == Kind::identifier) macro.parameters.emplace_back(words[i].text);
        body = close + 1;
      }
      if (body < words.size()) macro.body = text.substr(words[body].offset);
      macros_[std::string(words[1].text)] = std::move(macro);
    }
  }

  std::string run(std::string_view source) { return expand(joined_lines(source), {}, 0); }

 private:
  std::string expand(std::string_view text, const std::set<std::string>& open, int depth) {
    std::string out;
    const Tokens tokens = lex_source(text);
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (total_ > limit) break;
      const SourceToken& token = tokens[i];
      const auto found = token.kind == Kind::identifier && depth < 12 ? macros_.find(std::string(token.text)) : macros_.end();
      if (found == macros_.end() || open.contains(found->first)) continue;
      const Macro& macro = found->second;
      std::size_t end = i;
      std::vector<std::string> arguments;
      if (macro.function) {
        if (i + 1 >= tokens.size() || !tokens[i + 1].is("(")) continue;
        end = matching_bracket(tokens, i + 1);
        if (end >= tokens.size()) continue;
        std::size_t begin = i + 2;
        for (std::size_t k = i + 2; k <= end; ++k) {
          if (k < end && (tokens[k].is("(") || tokens[k].is("[") || tokens[k].is("{"))) {
            k = std::min(matching_bracket(tokens, k), end);
            if (k == end) break;
            continue;
          }
          if (k != end && !tokens[k].is(",")) continue;
          arguments.push_back(k > begin ? std::string(text.substr(tokens[begin].offset, tokens[k - 1].end() - tokens[begin].offset)) : "");
          begin = k + 1;
        }
      }
      out += text.substr(at, token.offset - at);
      std::set<std::string> inner = open;
      inner.insert(found->first);
      const std::string body = with_arguments(macro, arguments);
      const std::string replaced = expand(body, inner, depth + 1);
      total_ += replaced.size();
      out += " " + replaced + " ";
      at = tokens[end].end();
      i = end;
    }
    out += text.substr(at);
    return out;
  }

  static std::string with_arguments(const Macro& macro, const std::vector<std::string>& arguments) {
    if (!macro.function) return macro.body;
    std::string out;
    std::size_t at = 0;
    const Tokens tokens = lex_code(macro.body);
    for (const SourceToken& token : tokens) {
      if (token.kind != Kind::identifier) continue;
      const auto parameter = std::find(macro.parameters.begin(), macro.parameters.end(), token.text);
      if (parameter == macro.parameters.end()) continue;
      const auto index = static_cast<std::size_t>(parameter - macro.parameters.begin());
      out += macro.body.substr(at, token.offset - at);
      out += index < arguments.size() ? arguments[index] : "";
      at = token.end();
    }
    return out + macro.body.substr(at);
  }

  static constexpr std::size_t limit = std::size_t{2} << 20;
  std::map<std::string, Macro> macros_;
  std::size_t total_ = 0;
};

}  // namespace

std::string with_macros(std::string_view source) { return Expander(source).run(source); }

}  // namespace cudal1::kernel
