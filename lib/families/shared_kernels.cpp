// SPDX-License-Identifier: Apache-2.0
#include "families/shared_kernels.hpp"

#include "cuda_code/parameter_names.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cudal1::families {
namespace {

// A word of the code, or what stands between two words.
struct Token {
  enum class Kind { other, parameter, function, tunable };
  std::string text;
  Kind kind = Kind::other;
};
using Tokens = std::vector<Token>;

struct Vocabulary {
  const std::set<std::string>& names;
  const std::map<std::string, std::string>& tunables;

  // A function's name or one made of it, as "rows_2_body" is.
  bool names_function(const std::string& word) const {
    for (std::size_t end = word.size(); end != std::string::npos && end > 0; end = word.rfind('_', end - 1))
      if (names.count(word.substr(0, end)) != 0) return true;
    return false;
  }
  Token::Kind kind_of(const std::string& word) const {
    if (tunables.count(word) != 0) return Token::Kind::tunable;
    if (word[0] >= '0' && word[0] <= '9') return Token::Kind::other;
    return names_function(word) ? Token::Kind::function : Token::Kind::other;
  }
};

Tokens tokens_of(const std::string& code, const Vocabulary& vocabulary, const std::map<std::string, std::string>& renamed) {
  Tokens result;
  for (const auto& [text, word] : cuda_code::words_of(code)) {
    if (!word) {
      result.push_back({std::string(text), Token::Kind::other});
      continue;
    }
    std::string spelt(text);
    if (const auto other = renamed.find(spelt); other != renamed.end()) spelt = other->second;
    const bool parameter = cuda_code::parts_of(spelt).has_value();
    const Token::Kind kind = parameter ? Token::Kind::parameter : vocabulary.kind_of(spelt);
    result.push_back({std::move(spelt), kind});
  }
  return result;
}

// Equal for functions that may be alike.
std::string skeleton(const Tokens& tokens, const Vocabulary& vocabulary) {
  std::string result;
  for (const Token& token : tokens) {
    switch (token.kind) {
      case Token::Kind::other: result += token.text; break;
      case Token::Kind::function: result += "\1f"; break;
      case Token::Kind::tunable: result += "\1t" + vocabulary.tunables.at(token.text); break;
      case Token::Kind::parameter: {
        const auto parts = *cuda_code::parts_of(token.text);
        result += parts.front + "\1p" + parts.back;
      }
    }
  }
  return result;
}

// Pairs of names, one of each function, that stand for each other.
class Pairing {
 public:
  bool pair(const std::string& one, const std::string& other) {
    return there_.emplace(one, other).first->second == other && back_.emplace(other, one).first->second == one;
  }
  const std::map<std::string, std::string>& there() const { return there_; }

 private:
  std::map<std::string, std::string> there_, back_;
};

class Sharing {
 public:
  Sharing(const std::set<std::string>& names, const std::map<std::string, std::string>& tunables) : vocabulary_{names, tunables} {}

  SharedKernels of(const std::vector<std::string>& functions) {
    for (const std::string& code : functions) {
      Tokens tokens = tokens_of(code, vocabulary_, result_.renamed);
      auto& alike = kept_[skeleton(tokens, vocabulary_)];
      if (std::any_of(alike.begin(), alike.end(), [&](const Tokens& earlier) { return share(tokens, earlier); })) continue;
      for (const Token& token : tokens)
        if (token.kind == Token::Kind::function) known_.insert(token.text);
      std::string text;
      for (const Token& token : tokens) text += token.text;
      result_.functions.push_back(std::move(text));
      alike.push_back(std::move(tokens));
    }
    return std::move(result_);
  }

 private:
  // Whether `tokens` are `earlier` under other names, of which no function was known before: then they are renamed.
  bool share(const Tokens& tokens, const Tokens& earlier) {
    if (tokens.size() != earlier.size()) return false;
    Pairing functions, others;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Token &one = tokens[i], &other = earlier[i];
      if (one.kind != other.kind) return false;
      if (one.kind == Token::Kind::parameter) {
        if (!others.pair(cuda_code::parts_of(one.text)->parameter, cuda_code::parts_of(other.text)->parameter)) return false;
      } else if (one.kind == Token::Kind::function) {
        if (!functions.pair(one.text, other.text)) return false;
        if (one.text != other.text && known_.count(one.text) != 0) return false;
      }
    }
    for (const auto& [one, other] : functions.there())
      if (one != other) result_.renamed[one] = other;
    return true;
  }

  Vocabulary vocabulary_;
  SharedKernels result_;
  std::set<std::string> known_;   // names of functions, and the words made of them, that stay
  std::unordered_map<std::string, std::vector<Tokens>> kept_;
};

}  // namespace

std::string SharedKernels::launch(const std::string& text) const {
  const std::size_t end = text.find("<<<");
  const auto other = renamed.find(text.substr(0, end));
  return other == renamed.end() ? text : other->second + text.substr(end);
}

SharedKernels share_kernels(const std::vector<std::string>& functions, const std::set<std::string>& names, const std::map<std::string, std::string>& tunables) {
  return Sharing(names, tunables).of(functions);
}

}  // namespace cudal1::families
