// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dense.hpp"

namespace cudal1::tensor {

// c += a b for row-major a[m, k], b[k, n], c[m, n]; each element is summed in the order of k.
void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t n, std::int64_t k, int threads);

}  // namespace cudal1::tensor
