// SPDX-License-Identifier: Apache-2.0
#include "kernel/polynomial.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::kernel {

Polynomial Polynomial::constant(std::int64_t value) {
  Polynomial result;
  result.add({}, value);
  return result;
}

Polynomial Polynomial::atom(const std::string& name) {
  Polynomial result;
  result.add({name}, 1);
  return result;
}

void Polynomial::add(const Monomial& monomial, std::int64_t coefficient) {
  if (coefficient == 0) return;
  const auto found = terms_.try_emplace(monomial, 0).first;
  found->second += coefficient;
  if (found->second == 0) terms_.erase(found);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_) result.add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_) result.add(monomial, -coefficient);
  return result;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [a, x] : terms_)
    for (const auto& [b, y] : other.terms_) {
      Monomial product = a;
      product.insert(product.end(), b.begin(), b.end());
      std::sort(product.begin(), product.end());
      std::int64_t coefficient = 0;
      if (!__builtin_mul_overflow(x, y, &coefficient)) result.add(product, coefficient);
    }
  return result;
}

std::optional<std::int64_t> Polynomial::value() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

std::optional<Polynomial> Polynomial::divided_by(const Polynomial& monomial) const {
  if (monomial.terms_.size() != 1) return *this == monomial && !terms_.empty() ? std::optional(constant(1)) : std::nullopt;
  const auto& [by, divisor] = *monomial.terms_.begin();
  Polynomial result;
  for (const auto& [term, coefficient] : terms_) {
    if (coefficient % divisor != 0 || !std::includes(term.begin(), term.end(), by.begin(), by.end())) return std::nullopt;
    Monomial rest;
    std::set_difference(term.begin(), term.end(), by.begin(), by.end(), std::back_inserter(rest));
    result.add(rest, coefficient / divisor);
  }
  return result;
}

bool Polynomial::never_negative() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const auto& term) { return term.second >= 0; });
}

Polynomial Polynomial::substituted(const std::string& atom, const Polynomial& by) const {
  Polynomial result;
  for (const auto& [monomial, coefficient] : terms_) {
    Polynomial product = constant(coefficient);
    for (const std::string& name : monomial) product = product * (name == atom ? by : Polynomial::atom(name));
    result = result + product;
  }
  return result;
}

std::string Polynomial::text() const {
  std::string result;
  // What is added comes first, the constant last.
  for (const bool negative : {false, true})
    for (auto term = terms_.rbegin(); term != terms_.rend(); ++term) {
      const auto& [monomial, coefficient] = *term;
      if ((coefficient < 0) != negative) continue;
      const std::int64_t size = std::abs(coefficient);
      std::string factors = size == 1 && !monomial.empty() ? "" : fmt::format("{}", size);
      for (const std::string& name : monomial) factors += (factors.empty() ? "" : " * ") + name;
      if (result.empty()) result = (negative ? "0 - " : "") + factors;
      else result += (negative ? " - " : " + ") + factors;
    }
  return result.empty() ? "0" : result;
}

}  // namespace cudal1::kernel
