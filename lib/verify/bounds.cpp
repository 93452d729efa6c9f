// SPDX-License-Identifier: Apache-2.0
#include "verify/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::verify {

namespace {

double root_mean_square(const std::vector<double>& values) {
  double squares = 0;
  std::size_t finite = 0;
  for (const double value : values)
    if (std::isfinite(value)) squares += value * value, ++finite;
  return finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
}

}  // namespace

Bounds dtype_bounds(tensor::Dtype dtype, double root_mean_square) {
  const double scale = std::min(1.0, root_mean_square);
  switch (dtype) {
    case tensor::Dtype::float64: return {1e-7, 1e-7 * scale};
    case tensor::Dtype::float32: return {1.3e-6, 1e-5 * scale};
    case tensor::Dtype::float16: return {1e-3, 1e-5 * scale};
    case tensor::Dtype::bfloat16: return {1.6e-2, 1e-5 * scale};
    default: return {};
  }
}

std::optional<Bounds> declared_bounds(const kernel::File& task, const std::string& output) {
  std::optional<Bounds> bounds;
  for (const kernel::Tolerance& tolerance : task.tolerances)
    if (tolerance.output == output || (tolerance.output.empty() && !bounds))
      bounds = Bounds{tolerance.relative, tolerance.absolute};
  return bounds;
}

Bounds bounds_of(const kernel::File& task, const std::string& output, tensor::Dtype dtype,
                 const std::vector<double>& values) {
  if (const auto declared = declared_bounds(task, output)) return *declared;
  return dtype_bounds(dtype, root_mean_square(values));
}

}  // namespace cudal1::verify
