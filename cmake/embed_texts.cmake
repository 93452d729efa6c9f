# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a source that holds each of FILES as bytes, without the lines that begin as DROP says. See embed.cmake.
set(arrays "")
set(rows "")
set(index 0)
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  if(DROP)
    string(REGEX REPLACE "(${DROP})[^\n]*\n" "" text "${text}")
  endif()
  string(HEX "${text}" hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char text_${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${name}\", {text_${index}, sizeof text_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from text files by cmake/embed_texts.cmake.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::${NAMESPACE} {
std::optional<std::string_view> embedded_text(std::string_view name);
std::vector<std::string_view> embedded_names();
namespace {
${arrays}
constexpr std::pair<std::string_view, std::string_view> texts[] = {
${rows}};
}  // namespace

std::optional<std::string_view> embedded_text(std::string_view name) {
  for (const auto& [key, text] : texts)
    if (key == name) return text;
  return std::nullopt;
}

std::vector<std::string_view> embedded_names() {
  std::vector<std::string_view> names;
  for (const auto& row : texts) names.push_back(row.first);
  return names;
}
}  // namespace cudal1::${NAMESPACE}
")
