// SPDX-License-Identifier: Apache-2.0
#include "reviewer/cheats.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"
#include "reviewer/embedded.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudal1::reviewer {

namespace {

Cheat parse(std::string_view file, std::string_view text) {
  Cheat cheat;
  cheat.name = file.substr(0, file.rfind('.'));
  constexpr std::string_view how = "//! how";
  for (const std::string& line : base::split_lines(std::string(text))) {
    if (line.starts_with(how)) cheat.how = base::trim(std::string_view(line).substr(how.size()));
    if (!line.starts_with("//! ") && !line.starts_with("// SPDX")) cheat.source += line + '\n';
  }
  return cheat;
}

// How often each word of the code occurs; symbols say little.
using Words = std::map<std::string, double>;
Words words_of(std::string_view source) {
  Words words;
  for (const auto& token : kernel::lex_code(source))
    if (token.kind == kernel::SourceToken::Kind::identifier) ++words[std::string(token.text)];
  return words;
}

double length(const Words& words) {
  double sum = 0;
  for (const auto& [_, weight] : words) sum += weight * weight;
  return std::sqrt(sum);
}

// Cheats as vectors of weighted words.
struct Index {
  std::vector<Words> cheats;
  Words rarity;  // log(number of cheats / those that have the word)

  Index() {
    for (const Cheat& cheat : known_cheats()) cheats.push_back(words_of(cheat.source));
    for (const Words& words : cheats)
      for (const auto& [word, _] : words) ++rarity[word];
    for (auto& [_, count] : rarity) count = std::log(static_cast<double>(cheats.size()) / count);
    for (Words& words : cheats) weigh(words);
  }

  void weigh(Words& words) const {
    for (auto& [word, weight] : words) {
      const auto found = rarity.find(word);
      weight = found == rarity.end() ? 0 : (1 + std::log(weight)) * found->second;
    }
  }
};

double cosine(const Words& a, const Words& b) {
  double sum = 0;
  for (const auto& [word, weight] : a)
    if (const auto found = b.find(word); found != b.end()) sum += weight * found->second;
  const double lengths = length(a) * length(b);
  return lengths > 0 ? sum / lengths : 0;
}

}  // namespace

const std::vector<Cheat>& known_cheats() {
  static const std::vector<Cheat> cheats = [] {
    std::vector<Cheat> list;
    for (const std::string_view name : embedded_names()) list.push_back(parse(name, embedded_text(name).value_or("")));
    return list;
  }();
  return cheats;
}

std::vector<const Cheat*> nearest_cheats(std::string_view source, std::size_t count) {
  static const Index index;
  Words words = words_of(source);
  index.weigh(words);
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t i = 0; i < index.cheats.size(); ++i) near.emplace_back(-cosine(words, index.cheats[i]), i);
  std::sort(near.begin(), near.end());
  std::vector<const Cheat*> nearest;
  for (std::size_t i = 0; i < std::min(count, near.size()); ++i) nearest.push_back(&known_cheats()[near[i].second]);
  return nearest;
}

}  // namespace cudal1::reviewer
