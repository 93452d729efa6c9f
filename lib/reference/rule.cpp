// SPDX-License-Identifier: Apache-2.0
#include "reference/rule.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::reference {

namespace {

// Within one slice, at least.
double errors_within(double sum, double squares, double slices) {
  if (slices < 2 || !(sum > 1e-100)) return 1;   // whose square is a number, too
  const double freedom = slices - 1, mean = sum / slices;
  const double relative = std::max(0.0, (squares / slices - mean * mean) * slices / freedom) / (mean * mean);
  const double part = 1 - 2 / (9 * freedom) - 1.645 * std::sqrt(2 / (9 * freedom));
  const double least = freedom * std::pow(std::max(part, 1e-3), 3);   // of chi-squared
  const double most = relative * freedom / least;
  return most > 0 ? std::clamp(2 / most, 1.0, 1e12) : 1e12;
}

}  // namespace

double independent_errors(const Slices& slices) {
  return slices.share > 0 ? errors_within(slices.ratios, slices.squares, slices.count) / slices.share : HUGE_VAL;
}

double least_step(tensor::Dtype dtype) {
  switch (dtype) {
    case tensor::Dtype::float16: return 0x1p-25;
    case tensor::Dtype::bfloat16: return 0x1p-134;
    case tensor::Dtype::float64: return 0x1p-500;   // whose square is a number, too
    default: return 0x1p-150;
  }
}

double whole_bound(double count) { return 3 * (1 + 4 / std::sqrt(std::max(1.0, count))); }

std::string judge(const Deviation& deviation, double leniency) {
  const auto beyond = [&](double error, double bound) { return !(error <= bound * leniency); };   // NaN is beyond
  const auto say = [&](const std::string& what, double error, double bound) {
    return fmt::format("{} is off by {:.3g} times what rounding explains, at most {:.2g} is right", what, error, bound * leniency);
  };
  if (beyond(deviation.whole, whole_bound(deviation.count))) return say("the output as a whole", deviation.whole, whole_bound(deviation.count));
  if (beyond(deviation.slice, slice_bound)) return say(deviation.slice_name, deviation.slice, slice_bound);
  if (beyond(deviation.element, element_bound)) return say("an element", deviation.element, element_bound);
  const double apart = deviation.alike > 0 ? std::min(deviation.count, 1 / deviation.alike) : deviation.count;
  const double bias = bias_bound + 4 / std::sqrt(std::max(1.0, apart));
  if (beyond(deviation.bias, bias)) return say("the mean error in one direction", deviation.bias, bias);
  return "";
}

}  // namespace cudal1::reference
