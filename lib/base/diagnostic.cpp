// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.hpp"

#include <algorithm>

namespace cudal1::base {
namespace {

const char* word(Diagnostic::Severity severity) {
  switch (severity) {
    case Diagnostic::Severity::error: return "error";
    case Diagnostic::Severity::warning: return "warning";
    case Diagnostic::Severity::note: return "note";
  }
  return "error";
}

// Blanks as wide as the text in front of the column, with its tabs, so that the caret stands under the right letter.
// A column counts bytes; continuation bytes of UTF-8 take no width.
std::string indent(const std::string& line, int column) {
  std::string blanks;
  const std::size_t end = std::min(line.size(), static_cast<std::size_t>(column - 1));
  for (std::size_t i = 0; i < end; ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;
    blanks += line[i] == '\t' ? '\t' : ' ';
  }
  return blanks;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) {
    text += (text.empty() ? "line " : ":") + std::to_string(diagnostic.line);
    if (diagnostic.column > 0) text += ":" + std::to_string(diagnostic.column);
  }
  if (!text.empty()) text += ": ";
  text += std::string(word(diagnostic.severity)) + ": " + diagnostic.message + "\n";
  if (!diagnostic.line_text.empty()) {
    text += "  " + diagnostic.line_text + "\n";
    if (diagnostic.column > 0) text += "  " + indent(diagnostic.line_text, diagnostic.column) + "^\n";
  }
  if (!diagnostic.hint.empty()) text += "  " + diagnostic.hint + "\n";
  return text;
}

std::string render(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += render(diagnostic);
  return text;
}

std::string line_of(const std::string& source, int line) {
  if (line < 1) return {};
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  std::size_t end = source.find('\n', begin);
  if (end == std::string::npos) end = source.size();
  if (end > begin && source[end - 1] == '\r') --end;
  return source.substr(begin, end - begin);
}

}  // namespace cudal1::base
