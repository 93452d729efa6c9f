// SPDX-License-Identifier: Apache-2.0
#include "kernel/file.hpp"

#include "base/text.hpp"
#include "kernel/check.hpp"
#include "kernel/complaint.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/directives.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// Brackets still open at the end of the tokens: a directive goes on in the next line while there are any.
int open_brackets(const std::vector<Token>& tokens) {
  int open = 0;
  for (const Token& token : tokens) {
    if (token.is("(") || token.is("[") || token.is("<<<")) ++open;
    if (token.is(")") || token.is("]") || token.is(">>>")) --open;
  }
  return open;
}

[[noreturn]] void fail_unknown(const DirectiveLine& line, const std::string& word, int column, const std::string& file) {
  if (word == "#") {
    const std::string_view text = base::trim(std::string_view(line.text).substr(line.text.find('#') + 1));
    const bool marked = text.starts_with("to complete:");
    complain(file, line.line, column, fmt::format("complete this: {}", marked ? base::trim(text.substr(12)) : text),
             "write the directive and take the `#` line out");
  }
  std::vector<std::string> words;
  for (const DirectiveKind& kind : directive_kinds()) words.emplace_back(kind.word);
  const auto near = base::nearest(word, words);
  words.pop_back();
  complain(file, line.line, column,
           word.empty() ? std::string("expected a directive after `//@`") : fmt::format("unknown directive `{}`", word),
           near ? fmt::format("did you mean `{}`?", *near) : fmt::format("known directives: {}", fmt::join(words, " ")));
}

class Reader {
 public:
  Reader(File& file, base::Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void read(const std::vector<DirectiveLine>& lines) {
    for (std::size_t i = 0; i < lines.size();) {
      std::size_t used = 1;
      try {
        read_one(lines, i, used);
      } catch (Complaint& complaint) {
        diagnostics_.push_back(std::move(complaint.diagnostic));
        recover(lines[i]);
      }
      i += used;
    }
    for (const OpenPlan::Repeat& repeat : open_.repeats) {
      base::Diagnostic diagnostic;
      diagnostic.file = file_.name;
      diagnostic.line = repeat.step.place.line;
      diagnostic.column = repeat.step.place.column;
      const bool when = repeat.step.variable.empty();
      diagnostic.message = repeat.braces ? fmt::format("this `{}` is not closed by `}}`", when ? "when" : "for")
                           : when        ? "this `when` has no steps: none follows"
                                         : "this `for` repeats nothing: no step follows";
      diagnostics_.push_back(std::move(diagnostic));
    }
  }

 private:
  void read_one(const std::vector<DirectiveLine>& lines, std::size_t at, std::size_t& used) {
    const DirectiveLine& line = lines[at];
    if (line.continued)
      complain(file_.name, line.line, line.column, "a directive must not end in a backslash",
               "leave a parenthesis open to go on in the next //@ line");
    const FirstWord first = first_word(line);
    const DirectiveKind* kind = find_directive(first.text);
    if (kind == nullptr) fail_unknown(line, first.text, first.column, file_.name);

    const std::string rest = line.text.substr(first.end);
    const int rest_column = line.column + static_cast<int>(first.end);
    int end_line = line.line, end_column = line.column + static_cast<int>(line.text.size());
    std::vector<Token> tokens;
    if (!kind->raw) {
      tokens = lex_directive(rest, file_.name, line.line, rest_column);
      while (open_brackets(tokens) > 0 && goes_on(lines, at, used)) {
        const DirectiveLine& next = lines[at + used];
        ++used;
        std::vector<Token> more = lex_directive(next.text, file_.name, next.line, next.column);
        tokens.insert(tokens.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
        end_line = next.line;
        end_column = next.column + static_cast<int>(next.text.size());
      }
    }
    if (kind->raw) end_column = rest_column + static_cast<int>(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (!tokens.empty() && used == 1) end_column = tokens.back().column + static_cast<int>(tokens.back().text.size());
    Directive directive{std::string(kind->word),
                        {line.line, first.column},
                        rest,
                        {line.line, rest_column},
                        TokenStream(std::move(tokens), file_.name, end_line, end_column)};
    while (true) {
      kind->parse(directive, file_, open_);
      const bool step = kind->word == "for" || kind->word == "when" || kind->word == "launch" || kind->word == "memset" || kind->word == "copy" || kind->word == "}";
      if (directive.tokens.at_end() || !step || !begins_step(directive.tokens.peek())) break;
      const Token word = directive.tokens.take();
      kind = find_directive(word.text);
      directive.word = word.text;
      directive.place = {word.line, word.column};
    }
    if (!kind->raw) directive.tokens.expect_end(kind->word);
  }

  // After a `for … {` or `when … {` that could not be read, its body and its `}` are still there.
  void recover(const DirectiveLine& line) {
    if ((first_word(line).text != "for" && first_word(line).text != "when") || !base::trim(line.text).ends_with('{')) return;
    if (!open_.repeats.empty() && open_.repeats.back().step.place.line == line.line) return;
    OpenPlan::Repeat repeat;
    repeat.step.variable = "unread";
    repeat.step.place = {line.line, line.column};
    repeat.braces = true;
    open_.repeats.push_back(std::move(repeat));
  }

  // The next directive line stands right below and begins no directive of its own.
  static bool goes_on(const std::vector<DirectiveLine>& lines, std::size_t at, std::size_t used) {
    if (at + used >= lines.size()) return false;
    const DirectiveLine& next = lines[at + used];
    return next.line == lines[at + used - 1].line + 1 && !next.continued && find_directive(first_word(next).text) == nullptr;
  }

  File& file_;
  base::Diagnostics& diagnostics_;
  OpenPlan open_;
};

bool looks_like_utf16(const std::string& source) {
  return source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff") ||
         (source.size() >= 4 && (source[1] == '\0') != (source[0] == '\0') && (source[3] == '\0') != (source[2] == '\0'));
}

}  // namespace

bool is_answer(const File& file) { return file.of.has_value() || file.buffers.empty() || file.sizes.empty(); }

tl::expected<File, base::Diagnostics> parse(std::string source, std::string name) {
  base::Diagnostics diagnostics;
  File file;
  file.name = std::move(name);
  file.source = std::move(source);
  if (constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; file.source.starts_with(byte_order_mark))
    file.source.erase(0, byte_order_mark.size());  // compilers would not know it behind what stands in front of the source
  if (const std::size_t nul = file.source.find('\0'); nul != std::string::npos) {
    base::Diagnostic diagnostic;
    diagnostic.file = file.name;
    diagnostic.line = 1 + static_cast<int>(std::count(file.source.begin(), file.source.begin() + static_cast<std::ptrdiff_t>(nul), '\n'));
    diagnostic.message = "this is not a text file: it holds a zero byte; expected CUDA source";
    if (looks_like_utf16(file.source)) diagnostic.hint = "it looks like UTF-16: save it as UTF-8";
    return tl::unexpected(base::Diagnostics{std::move(diagnostic)});
  }
  Reader(file, diagnostics).read(directive_lines(file.source));
  // A line that could not be read leaves names undeclared, and what follows from that is no news.
  if (diagnostics.empty()) diagnostics = check_declarations(file);
  if (diagnostics.empty() && !is_answer(file)) diagnostics = check_uses(file);
  if (!diagnostics.empty()) {
    add_line_texts(diagnostics, file.source);
    return tl::unexpected(std::move(diagnostics));
  }
  return file;
}

tl::expected<void, base::Diagnostic> valid_host_text(const std::string& source, const std::string& name) {
  if (source.find('\0') != std::string::npos || !directive_lines(source).empty()) return {};
  base::Diagnostic diagnostic;
  diagnostic.file = name;
  diagnostic.message = "no `//@` directive: this is not a kernel file yet";
  diagnostic.hint = fmt::format("run `cudal1 init {}` to draft the directives", name);
  return tl::unexpected(std::move(diagnostic));
}

}  // namespace cudal1::kernel
