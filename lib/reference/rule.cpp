// SPDX-License-Identifier: Apache-2.0
#include "reference/rule.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::reference {

double whole_bound(double count) { return 3 * (1 + 4 / std::sqrt(std::max(1.0, count))); }

std::string judge(const Deviation& deviation, double leniency) {
  const auto beyond = [&](double error, double bound) { return !(error <= bound * leniency); };   // NaN is beyond
  const auto say = [&](const std::string& what, double error, double bound) {
    return fmt::format("{} is off by {:.3g} times what rounding explains, at most {:.2g} is right", what, error, bound * leniency);
  };
  if (beyond(deviation.whole, whole_bound(deviation.count))) return say("the output as a whole", deviation.whole, whole_bound(deviation.count));
  if (beyond(deviation.slice, slice_bound)) return say(deviation.slice_name, deviation.slice, slice_bound);
  if (beyond(deviation.element, element_bound)) return say("an element", deviation.element, element_bound);
  const double bias = bias_bound + 4 / std::sqrt(std::max(1.0, deviation.count));
  if (beyond(deviation.bias, bias)) return say("the mean error in one direction", deviation.bias, bias);
  return "";
}

}  // namespace cudal1::reference
