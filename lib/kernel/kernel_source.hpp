// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/polynomial.hpp"
#include "kernel/source_lexer.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// A function of device code: its parameters, and its body as a range of tokens without the braces.
struct FunctionText {
  std::vector<std::pair<std::string, bool>> parameters;  // name, and whether it is a pointer
  std::set<std::string> halves;                          // pointers to elements of 16 bits
  std::size_t body_from = 0, body_to = 0;
};

// A file's device code as tokens, and where its functions and statements begin and end. The source must outlive it.
class KernelSource {
 public:
  explicit KernelSource(std::string_view source);
  KernelSource(const KernelSource&) = delete;
  KernelSource& operator=(const KernelSource&) = delete;

  const std::vector<SourceToken>& tokens() const { return tokens_; }
  const SourceToken& token(std::size_t i) const;
  std::string text(std::size_t from, std::size_t to) const { return source_text(source_, tokens_, from, to); }

  std::optional<FunctionText> kernel(std::string_view name) const;
  // A function that is no kernel, with at least so many parameters.
  std::optional<FunctionText> device_function(std::string_view name, std::size_t parameters) const;
  // Whether a body has `name.axis` in it.
  bool names(const FunctionText& function, std::string_view name, std::string_view axis) const;

  // The value of the expression [from, to) of literals, constants of the file and those given.
  std::optional<std::int64_t> literal(std::size_t from, std::size_t to, const std::map<std::string, Polynomial>& constants) const;
  // `constexpr int TILE = 16;` at namespace scope or within a function.
  std::optional<std::int64_t> constant(std::string_view name) const;

  std::size_t statement_end(std::size_t i) const;
  // Whether the statement at `i` leaves what it stands in.
  bool leaves(std::size_t i) const;
  // The last token of a loop's body.
  std::size_t loop_end(std::size_t body) const;

 private:
  std::optional<FunctionText> function_at(std::size_t i) const;

  std::string_view source_;
  std::vector<SourceToken> tokens_;
  std::multimap<std::string_view, std::size_t> assigned_;  // names in front of `=`
  std::multimap<std::string_view, std::size_t> defined_;   // names of functions in front of their bodies
};

}  // namespace cudal1::kernel
