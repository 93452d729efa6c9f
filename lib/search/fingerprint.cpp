// SPDX-License-Identifier: Apache-2.0
#include "search/fingerprint.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace cudal1::search {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Copies code without comments; white space stays only where it separates two words, or two equal operators such as
// the signs of `a - -b`. A preprocessor line keeps its end, because that ends it.
class Squeezer {
 public:
  std::string run(std::string_view source) {
    for (at_ = 0; at_ < source.size();) {
      const auto rest = source.substr(at_);
      if (rest.starts_with("//@")) {
        directive(line(rest));
      } else if (rest.starts_with("//")) {
        at_ += line(rest).size();
        gap_ = true;
      } else if (rest.starts_with("/*")) {
        const auto end = rest.find("*/", 2);
        at_ = end == std::string_view::npos ? source.size() : at_ + end + 2;
        gap_ = true;
      } else if (rest[0] == '"' || rest[0] == '\'') {
        literal(rest);
      } else {
        character(rest[0]);
      }
    }
    return std::move(out_);
  }

 private:
  static std::string_view line(std::string_view rest) { return rest.substr(0, rest.find('\n')); }

  void directive(std::string_view text) {
    at_ += text.size();
    text = base::trim(text.substr(3));
    if (text.starts_with("of ") || text.starts_with("of\t")) return;
    out_ += "\n//@";
    text = text.substr(0, text.find("//"));
    out_ += text.starts_with("tune") ? tunable(text) : Squeezer{}.run(text);
    out_ += '\n';
    gap_ = false;
  }

  // The tool measures every choice of a tunable, so their order is none.
  static std::string tunable(std::string_view text) {
    const auto equals = std::min(text.find('='), text.size()), condition = std::min(text.find(" if ", equals), text.size());
    std::vector<std::string> choices;
    for (std::size_t at = equals; at < condition;) {
      const auto end = std::min(text.find('|', at + 1), condition);
      choices.push_back(Squeezer{}.run(text.substr(at + 1, end - at - 1)));
      at = end;
    }
    std::sort(choices.begin(), choices.end());
    std::string result = Squeezer{}.run(text.substr(0, equals));
    for (const auto& choice : choices) result += '|' + choice;
    return result + Squeezer{}.run(text.substr(condition));
  }

  void literal(std::string_view rest) {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != rest[0] && rest[end] != '\n') end += rest[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, rest.size());
    out_ += rest.substr(0, end);
    at_ += end;
    gap_ = false;
  }

  void character(char c) {
    ++at_;
    if (c == '\n' && preprocessor_) {
      if (!out_.ends_with('\\')) preprocessor_ = false;
      out_ += '\n';
      gap_ = false;
      line_empty_ = true;
      return;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      gap_ = true;
      line_empty_ = line_empty_ || c == '\n';
      return;
    }
    if (c == '#' && line_empty_) {
      preprocessor_ = true;
      if (!out_.empty() && !out_.ends_with('\n')) out_ += '\n';
      gap_ = false;
    }
    line_empty_ = false;
    if (gap_ && !out_.empty() && ((is_word(out_.back()) && is_word(c)) || out_.back() == c || preprocessor_)) out_ += ' ';
    gap_ = false;
    out_ += c;
  }

  std::string out_;
  std::size_t at_ = 0;
  bool gap_ = false, preprocessor_ = false, line_empty_ = true;
};

}  // namespace

std::string fingerprint(std::string_view source) { return base::sha256(Squeezer{}.run(source)); }

}  // namespace cudal1::search
