// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/evaluate.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cudal1::tensor {

using Extents = std::vector<std::int64_t>;

std::int64_t elements(const Extents& shape);
Extents strides(const Extents& shape);  // of a dense array, in elements

// Calls body(first, last) on parts of [0, count). Parts are disjoint and every element is computed within one, so the
// number of threads changes no bit. `grain` is the least worth a thread.
void parallel(int threads, std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

// Strides with which `shape` is read as the broadcast shape `out`: 0 along stretched axes.
Extents broadcast_strides(const Extents& shape, const Extents& out);

// Calls body(offset of the row in the result, offset of its start in each operand) for each row, a run along the last
// axis, of a result. The operands step by their last stride.
void for_rows(const Extents& out, const std::vector<Extents>& operand_strides, int threads,
              const std::function<void(std::int64_t, const std::int64_t*)>& body);

// A view of an array as [outer, length, inner] around one axis.
struct Around {
  std::int64_t outer = 1, length = 1, inner = 1;
  Around(const Extents& shape, int axis);
};

// The array with its axes in another order.
Array permuted(const Array& in, const std::vector<int>& order);

// A sum whose rounding error stays near one unit: pairwise, over blocks of fixed length.
double sum(const double* values, std::int64_t count, std::int64_t stride = 1);

}  // namespace cudal1::tensor
