// SPDX-License-Identifier: Apache-2.0
#include "bench/student.hpp"

#include <cmath>

namespace cudal1::bench {

namespace {

// The continued fraction of the incomplete beta function, by Lentz's method (Press et al., Numerical Recipes, 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::fabs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return result;
}

// The logarithm of the gamma function of a positive number. std::lgamma writes a global; judges of a sweep run on threads.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // of POSIX
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_cdf(double t, double degrees) {
  const double tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double p, double degrees) {
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  double low = 0;
  double high = 1;
  while (student_cdf(high, degrees) < p && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (student_cdf(middle, degrees) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace cudal1::bench
