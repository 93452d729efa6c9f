// SPDX-License-Identifier: Apache-2.0
#include "kernel/needed_definitions.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cudal1::kernel {

namespace {

// A condition of the preprocessor: the name that must be defined for it; empty for any other condition.
using Conditions = std::vector<std::string>;

bool holds(const Conditions& conditions, const std::string& name) { return std::find(conditions.begin(), conditions.end(), name) != conditions.end(); }

// The identifiers and symbols of `#ifdef GPU` without the `#`.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const SourceToken& token : lex_code(line.substr(line.find('#') + 1))) words.emplace_back(token.text);
  return words;
}

std::string condition_of(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "ifdef") return words[1];
  if (words.size() == 5 && words[0] == "if" && words[1] == "defined" && words[2] == "(") return words[3];
  if (words.size() == 3 && words[0] == "if" && words[1] == "defined") return words[2];
  return "";
}

}  // namespace

std::vector<std::string> needed_definitions(const std::string& source) {
  std::vector<std::string> needed;
  if (source.find("#if") == std::string::npos) return needed;
  Conditions conditions;
  std::map<std::string, std::set<std::string>> within;   // macro → the conditions that it is defined under
  std::set<std::string> plain;                           // macros that are defined under none
  std::map<std::string, std::vector<Conditions>> uses;
  for (const SourceToken& token : lex_source(source)) {
    if (token.kind == SourceToken::Kind::identifier) uses[std::string(token.text)].push_back(conditions);
    if (token.kind != SourceToken::Kind::preprocessor) continue;
    const auto words = words_of(token.text);
    if (words.empty()) continue;
    if (words[0].starts_with("if")) conditions.push_back(condition_of(words));
    else if (words[0].starts_with("el") && !conditions.empty()) conditions.back().clear();
    else if (words[0] == "endif" && !conditions.empty()) conditions.pop_back();
    if (words[0] != "define" || words.size() < 2) continue;
    const auto condition = std::find_if(conditions.rbegin(), conditions.rend(), [](const std::string& name) { return !name.empty(); });
    if (condition == conditions.rend()) plain.insert(words[1]);
    else within[words[1]].insert(*condition);
  }
  for (const auto& [macro, names] : within) {
    if (plain.contains(macro) || names.size() != 1) continue;
    const std::string& name = *names.begin();
    if (name.starts_with('_') || plain.contains(name) || within.contains(name) || std::find(needed.begin(), needed.end(), name) != needed.end()) continue;
    const auto found = uses.find(macro);
    if (found != uses.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Conditions& at) { return !holds(at, name); })) needed.push_back(name);
  }
  return needed;
}

}  // namespace cudal1::kernel
