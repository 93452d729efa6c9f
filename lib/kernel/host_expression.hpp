// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/host_source.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cudal1::kernel {

// Translates host expressions into the expressions of directives, following local variables and constants to what they
// stand for. Names it cannot follow become sizes that the user gives values to.
class HostTranslator {
 public:
  explicit HostTranslator(const HostSource& host);

  // As seen at token `at` in function `function`. Empty when it is no plain expression. With `as_size`, a plain variable
  // becomes a size of its name rather than the value it stands for.
  std::optional<Expression> translate(TokenRange range, std::size_t function, std::size_t at, bool as_size);

  struct Dimensions {
    std::vector<Expression> parts;
  };
  std::optional<Dimensions> translate_dim3(TokenRange range, std::size_t function, std::size_t at);

  // Sizes met so far: the value, or an empty expression for the user to complete.
  const std::map<std::string, Expression>& sizes() const { return sizes_; }

  // A constant that a name stands for anywhere in the file, such as a #define or a local `const int`.
  std::optional<std::int64_t> constant(const std::string& name, std::size_t function, std::size_t at);

  // The tokens of `name = …;` or `name(…)` nearest above `at`.
  std::optional<TokenRange> definition(std::string_view name, std::size_t function, std::size_t at) const;

 private:
  // Where an expression stands, and how it is read.
  struct Sight {
    std::size_t function, at;
    bool as_size;
    int depth;
  };
  static constexpr int depth_limit = 12;

  std::optional<std::string> number(TokenRange range, std::size_t& i) const;
  std::optional<std::string> symbol(TokenRange range, std::size_t& i) const;
  std::optional<std::string> word(const Sight& sight, TokenRange range, std::size_t& i);
  std::optional<std::string> call(const std::string& word, const Sight& sight, TokenRange range, std::size_t& i);
  std::optional<std::string> part(const std::string& word, const Sight& sight, TokenRange range, std::size_t& i);
  std::optional<std::string> text(TokenRange range, std::size_t function, std::size_t at, bool as_size, int depth);
  std::optional<std::string> name(const std::string& word, std::size_t function, std::size_t at, bool as_size, int depth);
  std::optional<std::string> member(const std::string& word, char axis, std::size_t function, std::size_t at);
  std::optional<std::string> global(const std::string& word, std::size_t function, std::size_t at, int depth);
  std::string new_size(const std::string& wanted);

  const HostSource& host_;
  std::map<std::string, std::string> macros_;
  std::map<std::string, Expression> sizes_;
  int work_ = 0, nesting_ = 0;
};

}  // namespace cudal1::kernel
