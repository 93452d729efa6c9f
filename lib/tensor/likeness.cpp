// SPDX-License-Identifier: Apache-2.0
#include "tensor/likeness.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::tensor {
namespace {

constexpr std::size_t looks = 65536;

// The absolute values of finite elements, at most about `most` of them.
std::vector<double> looks_at(const Array& array, std::size_t most) {
  const std::size_t stride = std::max<std::size_t>(1, array.values.size() / most);
  std::vector<double> seen;
  for (std::size_t i = stride / 2; i < array.values.size(); i += stride)
    if (std::isfinite(array.values[i])) seen.push_back(std::abs(array.values[i]));
  return seen;
}

double drift_of(const std::vector<double>& seen, double total, double roundoff) {
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

double drift(const Array& array, double total, double roundoff) { return drift_of(looks_at(array, looks), total, roundoff); }

double drift_of_products(const Array& left, const Array& right, double total, double roundoff) {
  if (left.values.empty() || right.values.empty()) return 0;
  base::Random random(1, 0xd21f7);
  std::vector<double> seen;
  for (std::size_t i = 0; i < std::min(looks / 4, left.values.size() * right.values.size()); ++i) {
    const double term = left.values[random.below(left.values.size())] * right.values[random.below(right.values.size())];
    if (std::isfinite(term)) seen.push_back(term);
  }
  return drift_of(seen, total, roundoff);
}

}  // namespace cudal1::tensor
