// SPDX-License-Identifier: Apache-2.0
#include "record/recording.hpp"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace cudal1::record {

namespace {

// The template list's casts "(int)4", "(bool)1", "(Mode)2" as an argument can be written.
std::string without_casts(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"(bool)1", "true"}, {"(bool)0", "false"}})
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) text.replace(at, from.size(), to);
  static const char* const integers[] = {"int", "unsigned int", "long", "unsigned long", "short", "unsigned short", "char",
                                         "signed char", "unsigned char", "long long", "unsigned long long"};
  for (const char* type : integers) {
    const std::string cast = std::string("(") + type + ")";
    for (std::size_t at = text.find(cast); at != std::string::npos; at = text.find(cast)) text.erase(at, cast.size());
  }
  // Suffixes of literals: "4u", "8ul".
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] < '0' || text[i] > '9') continue;
    std::size_t next = i + 1;
    while (next < text.size() && (text[next] == 'u' || text[next] == 'l')) ++next;
    std::size_t start = i;
    while (start > 0 && text[start] >= '0' && text[start] <= '9') --start;
    const bool number = text[start] == '<' || text[start] == ' ' || text[start] == ',' || text[start] == '-';
    if (number && next < text.size() && (text[next] == ',' || text[next] == '>')) i = next - 1;
  }
  return plain;
}

}  // namespace

std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !readable) return symbol;
  std::string text = readable.get();
  static const std::string anonymous = "(anonymous namespace)::";
  for (std::size_t at = text.find(anonymous); at != std::string::npos; at = text.find(anonymous)) text.erase(at, anonymous.size());
  // The parameter list is the last parenthesis outside of template lists; a result type stands before templates' names.
  int angles = 0;
  std::size_t open = text.size(), start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++angles;
    if (text[i] == '>') --angles;
    if (angles != 0) {
      // Casts of template arguments have parentheses of their own.
      continue;
    }
    if (text[i] == '(') {
      open = i;
      break;
    }
    if (text[i] == ' ') start = i + 1;
  }
  return without_casts(text.substr(start, open - start));
}

double Recording::ms(const KernelTotal& total) const {
  const auto found = kept.find(total.kernel);
  if (!predicted) return total.work;
  if (found == kept.end() || found->second.launches.empty() || found->second.launches.front().work <= 0) return 0;
  return found->second.ms * total.work / found->second.launches.front().work;
}

}  // namespace cudal1::record
