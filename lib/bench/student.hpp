// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::bench {

// The value that Student's t with `degrees` > 0 of freedom stays below with probability p, 0 < p < 1. Twelve correct
// digits; degrees need not be an integer.
double student_quantile(double p, double degrees);

// The probability that it stays below t.
double student_cdf(double t, double degrees);

}  // namespace cudal1::bench
