// SPDX-License-Identifier: Apache-2.0
#include "compile/include_scan.hpp"

#include "base/text.hpp"
#include "compile/headers.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace cudal1::compile {
namespace {

namespace fs = std::filesystem;

// The source as the preprocessor sees it after its second phase: lines that end in a backslash are joined. Each
// character keeps the number of the line where it stood.
struct Spliced {
  std::string text;
  std::vector<int> lines;
};

Spliced splice(const std::string& source) {
  Spliced spliced;
  int line = 1;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      std::size_t end = i + 1;  // blanks behind the backslash are forgiven by some compilers
      while (end < source.size() && (source[end] == ' ' || source[end] == '\t' || source[end] == '\r')) ++end;
      if (end < source.size() && source[end] == '\n') {
        ++line;
        i = end;
        continue;
      }
    }
    spliced.text += source[i];
    spliced.lines.push_back(line);
    if (source[i] == '\n') ++line;
  }
  return spliced;
}

// Behind blanks and comments of one line.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\v' || text[at] == '\f') ++at;
    else if (text.substr(at, 2) == "/*") at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else break;
  }
  return at;
}

// Behind a # that starts a directive named include, import or include_next; npos otherwise.
std::size_t behind_include(std::string_view text, std::size_t at) {
  std::size_t hash = 0;
  for (const std::string_view form : {"#", "%:", "\?\?="})
    if (text.substr(at).starts_with(form)) hash = form.size();
  if (hash == 0) return std::string_view::npos;
  at = skip_blanks(text, at + hash);
  for (const std::string_view word : {"include_next", "include", "import", "embed"})
    if (text.substr(at).starts_with(word)) {
      at += word.size();
      const bool ends = at >= text.size() || (std::isalnum(static_cast<unsigned char>(text[at])) == 0 && text[at] != '_');
      return ends ? skip_blanks(text, at) : std::string_view::npos;
    }
  return std::string_view::npos;
}

bool inside(const fs::path& path, const std::vector<fs::path>& folders) {
  std::error_code code;
  const fs::path real = fs::weakly_canonical(path, code);
  if (code) return false;
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    const fs::path root = fs::weakly_canonical(folder, code);
    return !code && std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
  });
}

// Why the name is refused; empty when it is not.
std::string objection(std::string_view name, bool quoted, const std::vector<fs::path>& folders) {
  const fs::path path(name);
  if (embedded_text(name)) return {};
  const std::string shown = base::printable(name);
  if (path.is_absolute()) return inside(path, folders) ? "" : "the include of " + shown + " leads outside the allowed folders";
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  std::error_code code;
  const bool found = std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return fs::is_regular_file(folder / path, code) && inside(folder / path, folders);
  });
  if (found) return {};
  if (climbs) return "the include of " + shown + " leads outside the allowed folders";
  return quoted ? "the include of \"" + shown + "\" finds no such file in the allowed folders" : "";
}

}  // namespace

std::optional<base::Diagnostic> find_bad_include(const std::string& source, const std::string& name,
                                                 const std::vector<fs::path>& folders) {
  const Spliced spliced = splice(source);
  const std::string_view text = spliced.text;
  for (std::size_t at = text.find_first_of("#%?"); at != std::string_view::npos; at = text.find_first_of("#%?", at + 1)) {
    const std::size_t argument = behind_include(text, at);
    if (argument == std::string_view::npos) continue;
    const char open = argument < text.size() ? text[argument] : '\n';
    std::string why;
    if (open == '"' || open == '<') {
      const std::size_t end = text.find_first_of(open == '"' ? "\"\n" : ">\n", argument + 1);
      why = objection(text.substr(argument + 1, std::min(end, text.size()) - argument - 1), open == '"', folders);
    } else {
      why = "an include needs its name in quotes or angle brackets, not a macro";
    }
    if (why.empty()) continue;
    base::Diagnostic diagnostic;
    diagnostic.file = name;
    diagnostic.line = spliced.lines[at];
    diagnostic.message = why;
    diagnostic.line_text = base::printable(base::line_of(source, diagnostic.line));
    diagnostic.hint = "headers of its own a task names with //@ include";
    return diagnostic;
  }
  return std::nullopt;
}

}  // namespace cudal1::compile
