// SPDX-License-Identifier: Apache-2.0
#include "compile/log.hpp"

#include "base/text.hpp"
#include "compile/headers.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace cudal1::compile {
namespace {

using base::Diagnostic;
using Severity = Diagnostic::Severity;

std::size_t number_before(std::string_view line, std::string_view words, std::size_t from = 0) {
  const std::size_t end = line.find(words, from);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::size_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string_view between_quotes(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find('\''));
}

// NVRTC's message without the option that nobody can give here: "… Consider using -default-device flag …".
std::string_view without_advice(std::string_view message) {
  for (const std::string_view advice : {" Consider using -default-device", ". Consider using -default-device", " (Consider using -default-device"})
    if (const std::size_t at = message.find(advice); at != std::string_view::npos) return base::trim(message.substr(0, at));
  return message;
}

// "k.cu(7): error: message" of the front end.
std::optional<Diagnostic> front_end(std::string_view line) {
  struct Kind { std::string_view word; Severity severity; };
  static constexpr Kind kinds[] = {{"): error", Severity::error},        {"): catastrophic error", Severity::error},
                                   {"): internal error", Severity::error}, {"): warning", Severity::warning},
                                   {"): remark", Severity::note}};
  for (const Kind& kind : kinds) {
    const std::size_t close = line.find(kind.word);
    if (close == std::string_view::npos) continue;
    const std::size_t open = line.rfind('(', close);
    if (open == std::string_view::npos || open == 0) continue;
    Diagnostic diagnostic;
    const std::string_view number = line.substr(open + 1, close - open - 1);
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), diagnostic.line);
    if (fault != std::errc() || end != number.data() + number.size()) continue;
    std::string_view rest = line.substr(close + kind.word.size());  // ": message" or " #177-D: message"
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos || (colon > 0 && !rest.starts_with(" #"))) continue;
    diagnostic.severity = kind.severity;
    diagnostic.file = line.substr(0, open);
    diagnostic.message = base::printable(without_advice(base::trim(rest.substr(colon + 2))));
    return diagnostic;
  }
  return std::nullopt;
}

// "ptxas error   : message", "ptxas application ptx input, line 53; error   : message", "nvrtc: error: message".
std::optional<Diagnostic> back_end(std::string_view line) {
  if (!line.starts_with("ptxas") && !line.starts_with("nvrtc")) return std::nullopt;
  if (const std::size_t remark = line.find("Potential Performance Loss: "); remark != std::string_view::npos) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.message = "ptxas: " + base::printable(base::trim(line.substr(remark)));
    return diagnostic;
  }
  if (line.starts_with("ptxas info") || line.starts_with("ptxas fatal   : Ptx assembly aborted")) return std::nullopt;
  const std::size_t word = std::min({line.find(" error"), line.find(" fatal"), line.find(" warning")});
  if (word == std::string_view::npos) return std::nullopt;
  const std::size_t colon = line.find(':', word);
  if (colon == std::string_view::npos) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.severity = line.substr(word).starts_with(" warning") ? Severity::warning : Severity::error;
  diagnostic.message = (line.starts_with("ptxas") ? "ptxas: " : "") + base::printable(base::trim(line.substr(colon + 1)));
  return diagnostic;
}

bool is_caret(std::string_view line) {
  const std::string_view mark = base::trim(line);
  return mark == "^";
}

// The front end prints the line behind two blanks and the caret below it; the quoted line itself is not used.
int caret_column(const std::vector<std::string>& lines, std::size_t index) {
  for (std::size_t i = index + 1; i < std::min(index + 4, lines.size()); ++i)
    if (is_caret(lines[i])) return static_cast<int>(lines[i].find('^')) - 1;
  return 0;
}

// A launched name that the source does not declare is told about a file of NVRTC's own.
Diagnostic about_name(const Diagnostic& told, std::string_view quoted) {
  constexpr std::string_view pragma = "#pragma nv_mangled_name ";
  const std::string_view text = base::trim(quoted);
  Diagnostic diagnostic;
  diagnostic.message = told.message;
  const bool several = told.message.find("overloaded function") != std::string::npos;
  const std::string name = text.starts_with(pragma) ? base::printable(text.substr(pragma.size())) : "";
  if (several && !name.empty()) {
    diagnostic.message = fmt::format("the launch of \"{0}\" can mean more than one function: a kernel and another function are both called {0}", name);
    diagnostic.hint = fmt::format("rename the function that is not launched, or put it into a namespace: namespace detail {{ __device__ … {}(…) }}", name);
    return diagnostic;
  }
  if (!name.empty())
    diagnostic.message = "the launch of \"" + name + "\" names no kernel of the source: " + told.message;
  diagnostic.hint = "declare it as a __global__ function, or correct the name in the launch line";
  return diagnostic;
}

bool below(const std::string& file, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return file.starts_with(folder + "/"); });
}

}  // namespace

base::Diagnostics parse_diagnostics(std::string_view log, const std::string& source, const SourceNames& names,
                                    const std::vector<std::string>& trusted, std::size_t limit) {
  const std::vector<std::string> lines = base::split_lines(log);
  base::Diagnostics errors, others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::optional<Diagnostic> found = front_end(lines[i]);
    if (!found && !(found = back_end(lines[i]))) continue;
    Diagnostic diagnostic = std::move(*found);
    if (diagnostic.file == names.alias) {
      diagnostic.file = names.name;
      diagnostic.line_text = base::printable(base::line_of(source, diagnostic.line));
      diagnostic.column = caret_column(lines, i);
    } else if (diagnostic.file == "__nv_name_map") {
      if (diagnostic.message.starts_with("Error in parsing name expression")) continue;  // repeats the one before
      diagnostic = about_name(diagnostic, i + 1 < lines.size() ? lines[i + 1] : "");
    } else if (diagnostic.file == names.tunables) {
      if (diagnostic.severity != Severity::error) continue;
      diagnostic.file.clear();
      diagnostic.line = 0;
      diagnostic.message = "in the constants of the tunables: " + diagnostic.message;
    } else if (!diagnostic.file.empty()) {
      if (diagnostic.severity != Severity::error) continue;
      if (!embedded_text(diagnostic.file) && !below(diagnostic.file, trusted)) {
        diagnostic.message = "an error in a file that is not part of this compile";
        diagnostic.hint = "include only the headers of the task, the C and C++ stand-ins and the CUDA Toolkit's";
      }
      diagnostic.file = base::printable(diagnostic.file);
    }
    if (diagnostic.message.find("could not open source file") != std::string::npos)
      diagnostic.hint = "headers of the CUDA Toolkit need its include folder, others a //@ include line in the task";
    base::Diagnostics& list = diagnostic.severity == Severity::error ? errors : others;
    if (list.size() < limit && std::find(list.begin(), list.end(), diagnostic) == list.end()) list.push_back(std::move(diagnostic));
  }
  for (Diagnostic& other : others)
    if (errors.size() < limit) errors.push_back(std::move(other));
  return errors;
}

namespace {

// "ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to … in the function '_Z3kPf'",
// which stands in front of what is said of the entry.
std::map<std::string, std::string> serialized_wgmma(std::string_view log) {
  constexpr std::string_view remark = "wgmma.mma_async instructions are serialized";
  std::map<std::string, std::string> reasons;
  for (const std::string& line : base::split_lines(log)) {
    const std::size_t at = line.find(remark);
    if (!line.starts_with("ptxas") || at == std::string::npos) continue;
    std::string_view rest = std::string_view(line).substr(at + remark.size());
    const std::string symbol(between_quotes(rest, "function '"));
    rest = base::trim(rest.substr(0, std::min(rest.find(" in the function '"), rest.find(" in function '"))));
    if (rest.starts_with("due to ")) rest.remove_prefix(7);
    std::string reason;
    for (const char c : rest)
      if (c != ' ' || (!reason.empty() && reason.back() != ' ')) reason += c;
    reasons.emplace(symbol, base::printable(reason.empty() ? "ptxas does not say why" : reason));
  }
  return reasons;
}

}  // namespace

std::map<std::string, outcome::ResourceFacts> parse_resources(std::string_view log) {
  const std::map<std::string, std::string> serialized = serialized_wgmma(log);
  std::map<std::string, outcome::ResourceFacts> entries;
  outcome::ResourceFacts* current = nullptr;
  bool own = false;  // "Function properties" are also told of functions that are not inlined
  std::string symbol;
  for (const std::string& line : base::split_lines(log)) {
    if (!line.starts_with("ptxas")) continue;
    if (const std::string_view name = between_quotes(line, "Compiling entry function '"); !name.empty()) {
      symbol = name;
      current = &entries[symbol];
      *current = {};
      if (const auto found = serialized.find(symbol); found != serialized.end()) current->serialized_wgmma = found->second;
      own = false;
    } else if (const std::size_t at = line.find("Function properties for "); at != std::string::npos) {
      own = base::trim(std::string_view(line).substr(at + 24)) == symbol;
    } else if (current != nullptr && own && line.find("bytes stack frame") != std::string::npos) {
      current->local_bytes = number_before(line, " bytes stack frame");
      current->spill_store_bytes = number_before(line, " bytes spill stores");
      current->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (current != nullptr && line.find(": Used ") != std::string::npos) {
      current->registers = static_cast<int>(number_before(line, " registers"));
      current->shared_bytes = number_before(line, " bytes smem");
      for (std::size_t bank = 0; (bank = line.find(" bytes cmem[", bank)) != std::string::npos; ++bank)
        current->constant_bytes += number_before(line, " bytes cmem[", bank);
      current->local_bytes = std::max(current->local_bytes, number_before(line, " bytes cumulative stack size"));
    }
  }
  return entries;
}

}  // namespace cudal1::compile
