// SPDX-License-Identifier: Apache-2.0
#include "bench/student.hpp"

#include "catch.hpp"

using cudal1::bench::student_cdf;
using cudal1::bench::student_quantile;

TEST_CASE("quantiles of Student's t agree with printed tables") {
  CHECK(student_quantile(0.995, 3) == Approx(5.8409).epsilon(1e-5));
  CHECK(student_quantile(0.995, 7) == Approx(3.4995).epsilon(1e-5));
  CHECK(student_quantile(0.995, 15) == Approx(2.9467).epsilon(1e-5));
  CHECK(student_quantile(0.995, 29) == Approx(2.7564).epsilon(1e-5));
  CHECK(student_quantile(0.995, 57) == Approx(2.66487).epsilon(1e-5));
  CHECK(student_quantile(0.975, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(student_quantile(0.975, 1e6) == Approx(1.95997).epsilon(1e-5));
}

TEST_CASE("quantiles of Student's t are symmetric and invert the distribution") {
  CHECK(student_quantile(0.5, 4) == 0);
  CHECK(student_quantile(0.1, 4) == Approx(-student_quantile(0.9, 4)));
  for (const double p : {0.6, 0.9, 0.99, 0.9999}) CHECK(student_cdf(student_quantile(p, 5), 5) == Approx(p).epsilon(1e-10));
}
