// SPDX-License-Identifier: Apache-2.0
#include "tensor/likeness.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::tensor {
namespace {

// The absolute values of finite elements, at most about `most` of them.
std::vector<double> looks_at(const Array& array, std::size_t most) {
  const std::size_t stride = std::max<std::size_t>(1, array.values.size() / most);
  std::vector<double> seen;
  for (std::size_t i = stride / 2; i < array.values.size(); i += stride)
    if (std::isfinite(array.values[i])) seen.push_back(std::abs(array.values[i]));
  return seen;
}

}  // namespace

double sameness(const Array& array, double apart) {
  std::vector<double> seen = looks_at(array, 256);
  const auto count = static_cast<double>(seen.size());
  std::erase(seen, 0.0);
  if (seen.size() <= 8) return 0;
  std::sort(seen.begin(), seen.end());
  double pairs = 0;
  for (std::size_t first = 0, last = 0; last < seen.size(); ++last) {
    while (seen[first] < seen[last] * (1 - apart)) ++first;
    pairs += static_cast<double>(last - first);
  }
  return 2 * pairs / (count * (count - 1));
}

double drift(const Array& array, double total, double roundoff) {
  const std::vector<double> seen = looks_at(array, 65536);
  if (seen.size() <= 8 || !(total > 0) || !std::isfinite(total)) return 0;
  const double step = 2 * roundoff * std::exp2(std::floor(std::log2(total)));
  const auto count = static_cast<double>(seen.size());
  double most = 0;
  for (const double part : {1.0, 0.5, 0.25, 0.125}) {
    const double grid = part * step;
    double sum = 0;
    for (const double x : seen) sum += std::nearbyint(x / grid) * grid - x;
    const double mean = sum / count;
    most = std::max(most, mean * mean);
  }
  return std::clamp(12 * most / (step * step) - 4 / count, 0.0, 1.0);
}

}  // namespace cudal1::tensor
