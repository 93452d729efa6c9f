// SPDX-License-Identifier: Apache-2.0
#include "judge/meant_source.hpp"

#include "kernel/source_lexer.hpp"
#include "sim/meant.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

// Names of the library's for floats that are no name of a function for doubles with an `f` behind it.
constexpr std::pair<std::string_view, std::string_view> fast_names[] = {
    {"__expf", "exp"}, {"__exp10f", "exp10"}, {"__logf", "log"}, {"__log2f", "log2"}, {"__log10f", "log10"},
    {"__sinf", "sin"}, {"__cosf", "cos"},     {"__tanf", "tan"}, {"__powf", "pow"}};

std::string definition(std::string_view type, std::string_view constraint, std::string_view library, std::string_view name, std::string_view function, int operands) {
  const bool two = operands == 2;
  return fmt::format("static __device__ __forceinline__ {0} cudal1_meant_{1}({0} x{2}) {{ const {0} y = ::{3}(x{4}); {0} r; "
                     "asm(\"meant.{5}.{6} %0, %1, %2{7};\" : \"={8}\"(r) : \"{8}\"(y), \"{8}\"(x){9}); return r; }}\n",
                     type, name, two ? fmt::format(", {} z", type) : "", library, two ? ", z" : "", function, type == "float" ? "f32" : "f64", two ? ", %3" : "", constraint,
                     two ? fmt::format(", \"{}\"(z)", constraint) : "");
}

// The value of `0.7f`, `1e-5F`: nothing for other literals, and for those that a float is exactly.
std::optional<double> meant_value(std::string_view text) {
  if (text.size() < 2 || (text.back() != 'f' && text.back() != 'F') || text.starts_with("0x") || text.starts_with("0X")) return std::nullopt;
  const std::string_view digits = text.substr(0, text.size() - 1);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !(nearest < 1e38f) || nearest < 1e-30f) return std::nullopt;
  return value;
}

std::string marked(std::string_view literal, double value) { return fmt::format("cudal1_meant_literal({}, {:.17g})", literal, value); }

// A line of the preprocessor: what a macro stands for is code, and its conditions have integers.
std::string with_meant_macro(std::string_view line) {
  std::string out;
  std::size_t copied = 0;
  for (const kernel::SourceToken& token : kernel::lex_code(line.substr(1))) {
    if (token.kind != kernel::SourceToken::Kind::number) continue;
    const auto value = meant_value(token.text);
    if (!value) continue;
    out += line.substr(copied, token.offset + 1 - copied);
    out += marked(token.text, *value);
    copied = token.end() + 1;
  }
  return out + std::string(line.substr(copied));
}

}  // namespace

std::string meant_functions_prelude() {
  std::string definitions, macros, names;
  const auto replace = [&](std::string_view name) {
    macros += fmt::format("#define {0} cudal1_meant_{0}\n", name);
    names += fmt::format(" using ::cudal1_meant_{};", name);
  };
  for (const sim::MeantFunction& function : sim::meant_functions()) {
    const std::string single = fmt::format("{}f", function.name);
    definitions += definition("float", "f", single, single, function.name, function.operands);
    replace(single);
    // One name for both types, as overloads.
    definitions += definition("float", "f", single, function.name, function.name, function.operands);
    definitions += definition("double", "d", function.name, function.name, function.name, function.operands);
    replace(function.name);
  }
  for (const auto& [name, function] : fast_names) {
    definitions += definition("float", "f", name, name, function, function == "pow" ? 2 : 1);
    replace(name);
  }
  definitions += "static __device__ __forceinline__ float cudal1_meant_literal(float y, double x) { float r; asm(\"meant.literal.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(y), \"d\"(x)); return r; }\n";
  return definitions + "namespace std {" + names + " }\n" + macros;
}

std::string with_meant_literals(const std::string& source) {
  using Kind = kernel::SourceToken::Kind;
  std::string out;
  std::size_t copied = 0;
  int depth = 0;
  bool constant = false;   // in a statement whose initialiser the compiler wants to know
  const auto replace = [&](const kernel::SourceToken& token, const std::string& text) {
    out += source.substr(copied, token.offset - copied) + text;
    copied = token.end();
  };
  for (const kernel::SourceToken& token : kernel::lex_source(source)) {
    if (token.kind == Kind::preprocessor) {
      if (token.text.find("define") != std::string_view::npos) replace(token, with_meant_macro(token.text));
      continue;
    }
    if (token.is("{")) ++depth;
    if (token.is("}")) --depth;
    if (token.is(";")) constant = false;
    if (token.is("constexpr") || token.is("static") || token.is("static_assert") || token.is("__constant__") || token.is("__shared__")) constant = true;
    if (token.kind != Kind::number || depth == 0 || constant) continue;
    if (const auto value = meant_value(token.text)) replace(token, marked(token.text, *value));
  }
  return out + source.substr(copied);
}

outcome::Binary build_meant(const task::Task& task, const kernel::Environment& tunables, const Executable& reference, compile::Compiler& compiler, const std::string& arch) {
  compile::Request request;
  request.name = task.file.name;
  for (const auto& [launched, symbol] : reference.binary.entries) request.kernels.push_back(launched);
  request.arch = arch;
  request.options = task.file.options;
  request.cubin = false;   // no GPU has these instructions
  for (const std::string& folder : task.file.includes) request.include_folders.push_back(task.folder() / folder);
  request.prelude = kernel::tunable_prelude(tunables) + meant_functions_prelude();
  for (const std::string& source : {with_meant_literals(task.file.source), task.file.source}) {
    request.source = source;
    if (auto compiled = compiler.compile(request)) return std::move(compiled->binary);
  }
  return {};
}

}  // namespace cudal1::judge
