// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::kernel {

// A polynomial with integer coefficients over named atoms, in the one form that equal polynomials share.
class Polynomial {
 public:
  using Monomial = std::vector<std::string>;  // sorted atoms, repeated for powers; empty: the constant

  Polynomial() = default;  // 0
  static Polynomial constant(std::int64_t value);
  static Polynomial atom(const std::string& name);

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator-(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;
  bool operator==(const Polynomial&) const = default;

  const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
  std::optional<std::int64_t> value() const;                                 // when it is a constant
  std::optional<Polynomial> divided_by(const Polynomial& monomial) const;    // when nothing is left over
  bool never_negative() const;                                               // with atoms that are 0 or more
  Polynomial substituted(const std::string& atom, const Polynomial& by) const;

  // As an expression of directives writes it: "N * M + 3".
  std::string text() const;

 private:
  void add(const Monomial& monomial, std::int64_t coefficient);

  std::map<Monomial, std::int64_t> terms_;
};

}  // namespace cudal1::kernel
