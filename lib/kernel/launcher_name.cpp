// SPDX-License-Identifier: Apache-2.0
#include "kernel/launcher_name.hpp"

#include "kernel/source_lexer.hpp"

#include <cctype>
#include <filesystem>
#include <set>

namespace cudal1::kernel {

std::string launcher_name(const File& file) {
  std::string name = file.task;
  if (name.empty())
    for (const char c : std::filesystem::path(file.name).stem().string()) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "launch_" + name;
  const std::string code = without_host_part(file.source);  // the tokens are views of it
  const auto tokens = lex_code(code);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    static const std::set<std::string_view> nouns = {"namespace", "struct", "class", "union", "enum", "using", "concept"};
    if (nouns.contains(tokens[i].text) && tokens[i + 1].text == name) return name + "_launch";
  }
  return name;
}

}  // namespace cudal1::kernel
