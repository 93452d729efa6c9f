// SPDX-License-Identifier: Apache-2.0
#include "kernel/size_values.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::kernel {

std::string with_size_values(const std::string& source, const std::map<std::string, std::int64_t>& values) {
  if (values.empty()) return source;
  std::string out;
  std::set<std::string> known;
  for (const std::string& line : base::split_lines(source)) {
    const std::string_view text = base::trim(line);
    const bool directive = text.starts_with("//@");
    const std::string_view rest = directive ? base::trim(text.substr(3)) : "";
    if (!rest.starts_with("size ") && !rest.starts_with("# to complete: size ")) {
      out += line + "\n";
      continue;
    }
    // `NAME = value` up to the next comma outside brackets, or a comment.
    std::string changed;
    std::size_t at = line.find("size") + 4;
    changed = line.substr(0, at);
    const auto words = lex_code(std::string_view(line).substr(at));
    std::size_t copied = 0;
    int depth = 0;
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      if (words[i].is("(")) ++depth;
      if (words[i].is(")")) --depth;
      if (depth > 0 || words[i].kind != SourceToken::Kind::identifier || !words[i + 1].is("=")) continue;
      const std::string name(words[i].text);
      known.insert(name);
      const auto value = values.find(name);
      if (value == values.end()) continue;
      std::size_t end = i + 2;
      for (int inner = 0; end < words.size() && (inner > 0 || !words[end].is(",")); ++end) inner += words[end].is("(") ? 1 : words[end].is(")") ? -1 : 0;
      changed += line.substr(at + copied, words[i + 2].offset - copied) + fmt::format("{}", value->second);
      copied = words[end - 1].end();
    }
    out += changed + line.substr(at + copied) + "\n";
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, value] : values) {
    if (known.contains(name)) continue;
    const auto near = base::nearest(name, names);
    throw base::Error(base::Fault::usage, fmt::format("--set {}={}: the draft has no size \"{}\"; its sizes are {}{}", name, value, name, fmt::join(names, ", "),
                                                      near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
  }
  return out;
}

}  // namespace cudal1::kernel
