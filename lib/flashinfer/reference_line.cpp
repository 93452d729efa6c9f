// SPDX-License-Identifier: Apache-2.0
#include "flashinfer/reference_line.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace cudal1::flashinfer {

namespace {

// One statement of Python, on one line, without its comment.
struct Logical {
  int line = 1;
  std::size_t indent = 0;
  std::string text;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(std::string_view text) { return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::all_of(text.begin(), text.end(), is_word); }

// The end of the string literal that begins at `at`.
std::size_t end_of_string(const std::string& source, std::size_t at) {
  const char quote = source[at];
  const bool triple = source.compare(at, 3, std::string(3, quote)) == 0;
  for (std::size_t i = at + (triple ? 3 : 1); i < source.size(); ++i) {
    if (source[i] == '\\') ++i;
    else if (triple ? source.compare(i, 3, std::string(3, quote)) == 0 : source[i] == quote) return i + (triple ? 3 : 1);
  }
  return source.size();
}

std::vector<Logical> logical_lines(const std::string& source) {
  std::vector<Logical> lines;
  Logical current;
  int line = 1, depth = 0;
  bool begun = false;
  const auto finish = [&] {
    const std::string_view text = base::trim(current.text);
    if (!text.empty()) lines.push_back({current.line, current.indent, std::string(text)});
    current = {line, 0, ""};
    begun = false;
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\n') {
      ++line;
      if (depth == 0) finish();
      else current.text += ' ';
    } else if (c == '#') {
      i = std::min(source.find('\n', i), source.size()) - 1;
    } else if (c == '\\' && i + 1 < source.size() && source[i + 1] == '\n') {
      ++i, ++line;
    } else if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(source, i);
      begun = true;
      current.text += source.substr(i, end - i);
      line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(i), source.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end - 1;
    } else if (!begun && (c == ' ' || c == '\t')) {
      ++current.indent;
    } else {
      if (!begun) current.line = line;
      begun = true;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      current.text += c;
    }
  }
  finish();
  return lines;
}

// Where `sign` stands outside every bracket and string; npos: nowhere.
std::size_t find_outside(const std::string& text, std::string_view sign, std::size_t from = 0) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(text, i) - 1;
      continue;
    }
    if (depth == 0 && text.compare(i, sign.size(), sign) == 0) return i;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return std::string::npos;
}

std::vector<std::string> split_outside(const std::string& text, std::string_view sign) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(find_outside(text, sign, begin), text.size());
    const std::string_view part = base::trim(std::string_view(text).substr(begin, end - begin));
    if (!part.empty()) parts.emplace_back(part);
    begin = end + sign.size();
  }
  return parts;
}

// Where the `=` of an assignment stands, and not that of `==` or `<=`.
std::size_t assignment_sign(const std::string& text) {
  for (std::size_t at = 0; (at = find_outside(text, "=", at)) != std::string::npos; ++at) {
    const char before = at > 0 ? text[at - 1] : ' ', after = at + 1 < text.size() ? text[at + 1] : ' ';
    if (after == '=') ++at;
    else if (std::string_view("=!<>").find(before) == std::string_view::npos) return at;
  }
  return std::string::npos;
}

class Translator {
 public:
  Translator(const Definition& definition, std::string name, const TypeOf& type_of) : definition_(definition), name_(std::move(name)), type_of_(type_of) {}

  std::string run() {
    const auto lines = logical_lines(definition_.reference);
    std::size_t begin = lines.size();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& text = lines[i].text;
      if (lines[i].indent != 0) continue;
      if (text.starts_with("def run(") || text.starts_with("def run (")) begin = i;
      else if (text.starts_with("def ")) functions_.insert(text.substr(4, text.find('(') - 4));
      else if (assignment_sign(text) != std::string::npos && begin == lines.size()) statement(lines[i]);
    }
    if (begin == lines.size()) refuse(1, "it has no function run");
    parameters(lines[begin]);
    for (std::size_t i = begin + 1; i < lines.size() && lines[i].indent > 0; ++i) statement(lines[i]);
    if (!returned_) refuse(lines[begin].line, "run returns nothing");
    return line_;
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& why) const {
    throw base::Error(base::Fault::bad_task, fmt::format("{}: line {} of its reference: {}\nWrite the task as a kernel file instead: cudal1 help kernel-file", name_, line, why));
  }

  void parameters(const Logical& head) {
    const std::size_t open = head.text.find('('), close = head.text.rfind(')');
    std::size_t index = 0;
    for (const std::string& parameter : split_outside(head.text.substr(open + 1, close - open - 1), ",")) {
      const std::string word(base::trim(std::string_view(parameter).substr(0, std::min(parameter.find(':'), parameter.find('=')))));
      const std::size_t value = assignment_sign(parameter);
      if (index < definition_.inputs.size()) {
        const std::string& input = definition_.inputs[index++].name;
        if (word != input) add(fmt::format("{} = {}", word, input));
      } else if (value != std::string::npos) {
        add(fmt::format("{} = {}", word, base::trim(std::string_view(parameter).substr(value + 1))));
      } else {
        refuse(head.line, fmt::format("run takes {}, for which the definition has no input", word));
      }
    }
    if (index < definition_.inputs.size()) refuse(head.line, fmt::format("run does not take the input {}", definition_.inputs[index].name));
  }

  void statement(const Logical& logical) {
    const std::string& text = logical.text;
    if (text[0] == '"' || text[0] == '\'' || text.starts_with("assert ") || text.starts_with("assert(") || text == "pass" || returned_) return;
    if (text.starts_with("with torch.no_grad()") || text.starts_with("with torch.inference_mode()")) return;   // what is under it follows
    if (text.starts_with("import ") || text.starts_with("from ")) return;
    for (const std::string_view word : {"for ", "while ", "if ", "elif ", "else:", "with ", "try:", "def ", "class ", "raise ", "del "})
      if (text.starts_with(word)) refuse(logical.line, fmt::format("\"{}\" is not understood: a task is statements one after the other", base::trim(word)));
    if (text.starts_with("return ") || text.starts_with("return(")) return results(logical);
    std::string assignment = text;
    for (const char* sign : {"+=", "-=", "*=", "/=", "@="})
      if (const std::size_t at = find_outside(text, sign); at != std::string::npos) {
        const std::string target(base::trim(text.substr(0, at)));
        assignment = fmt::format("{} = {} {} ({})", target, target, sign[0], base::trim(std::string_view(text).substr(at + 2)));
      }
    const std::size_t equals = assignment_sign(assignment);
    if (equals == std::string::npos) refuse(logical.line, fmt::format("\"{}\" is not understood: it assigns nothing", shortened(text)));
    std::string targets(base::trim(std::string_view(assignment).substr(0, equals)));
    const std::string value(base::trim(std::string_view(assignment).substr(equals + 1)));
    if (const std::size_t colon = find_outside(targets, ":"); colon != std::string::npos) targets = std::string(base::trim(targets.substr(0, colon)));
    if (value.ends_with(".device")) return;
    for (const std::string& target : split_outside(targets, ","))
      if (!is_name(target)) refuse(logical.line, fmt::format("\"{}\" is not understood: it assigns to a part of a tensor", shortened(text)));
    add(fmt::format("{} = {}", targets, expression(logical, value)));
  }

  void results(const Logical& logical) {
    std::string value(base::trim(std::string_view(logical.text).substr(6)));
    while (value.size() > 1 && value.front() == '(' && closes_at_end(value)) value = std::string(base::trim(value.substr(1, value.size() - 2)));
    std::vector<std::string> values = split_outside(value, ",");
    std::vector<std::string> names;
    if (value.front() == '{') {
      for (const std::string& entry : split_outside(value.substr(1, value.size() - 2), ",")) {
        const std::size_t colon = find_outside(entry, ":");
        const std::string key(base::trim(entry.substr(0, std::min(colon, entry.size()))));
        if (colon == std::string::npos || key.size() < 3) refuse(logical.line, "the dictionary that it returns is not understood");
        names.push_back(key.substr(1, key.size() - 2));
        values.resize(names.size());
        values.back() = std::string(base::trim(entry.substr(colon + 1)));
      }
    } else {
      for (const auto& output : definition_.outputs) names.push_back(output.name);
    }
    if (names.size() != values.size() || names.size() != definition_.outputs.size())
      refuse(logical.line, fmt::format("it returns {} values, but the definition has {} outputs", values.size(), definition_.outputs.size()));
    // Every value is computed before a name of an output takes the place of an intermediate one.
    if (names.size() == 1) {
      add(fmt::format("{} = {}", names[0], expression(logical, values[0])));
    } else {
      for (std::size_t i = 0; i < names.size(); ++i) add(fmt::format("result_{} = {}", i, expression(logical, values[i])));
      for (std::size_t i = 0; i < names.size(); ++i) add(fmt::format("{} = result_{}", names[i], i));
    }
    returned_ = true;
  }

  static bool closes_at_end(const std::string& value) {
    int depth = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '(') ++depth;
      if (value[i] == ')' && --depth == 0) return i + 1 == value.size();
    }
    return false;
  }

  // `x.dtype` as a type, and nothing that says on which device.
  std::string expression(const Logical& logical, std::string value) const {
    for (const std::string& function : functions_)
      for (std::size_t at = value.find(function + "("); at != std::string::npos; at = value.find(function + "(", at + 1))
        if (at == 0 || (!is_word(value[at - 1]) && value[at - 1] != '.')) refuse(logical.line, fmt::format("it calls {}, a function of its own, which is not understood", function));
    for (std::size_t at = 0; (at = value.find(".dtype", at)) != std::string::npos;) {
      std::size_t begin = at;
      while (begin > 0 && is_word(value[begin - 1])) --begin;
      const std::string owner = value.substr(begin, at - begin);
      const std::string type = is_name(owner) && (begin == 0 || value[begin - 1] != '.') ? type_of_(line_, owner) : "";
      if (type.empty()) refuse(logical.line, fmt::format("the type in \"{}\" cannot be told", shortened(value)));
      value.replace(begin, at + 6 - begin, "torch." + type);
      at = begin;
    }
    for (std::size_t at = 0; (at = value.find("device=", at)) != std::string::npos;) {
      std::size_t end = at;
      while (end < value.size() && value[end] != ',' && value[end] != ')') ++end;
      std::size_t begin = at;
      while (begin > 0 && (value[begin - 1] == ' ' || value[begin - 1] == ',')) --begin;
      value.erase(begin, end - begin);
      at = begin;
    }
    return value;
  }

  static std::string shortened(const std::string& text) { return text.size() > 60 ? text.substr(0, 57) + "..." : text; }

  void add(const std::string& statement) { line_ += (line_.empty() ? "" : "; ") + statement; }

  const Definition& definition_;
  std::string name_;
  const TypeOf& type_of_;
  std::set<std::string> functions_;
  std::string line_;
  bool returned_ = false;
};

}  // namespace

std::string reference_line(const Definition& definition, const std::string& name, const TypeOf& type_of) { return Translator(definition, name, type_of).run(); }

}  // namespace cudal1::flashinfer
