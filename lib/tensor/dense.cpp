// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"

#include <algorithm>
#include <thread>

namespace cudal1::tensor {

std::int64_t elements(const Extents& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Extents strides(const Extents& shape) {
  Extents result(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

void parallel(int threads, std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t parts = std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, std::max(threads, 1));
  if (parts == 1) return body(0, count);
  std::vector<std::jthread> workers;
  for (std::int64_t i = 1; i < parts; ++i) workers.emplace_back([&, i] { body(count * i / parts, count * (i + 1) / parts); });
  body(0, count / parts);
}

Extents broadcast_strides(const Extents& shape, const Extents& out) {
  Extents result(out.size(), 0);
  const Extents own = strides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) result[out.size() - shape.size() + i] = own[i];
  return result;
}

void for_rows(const Extents& out, const std::vector<Extents>& operand_strides, int threads,
              const std::function<void(std::int64_t, const std::int64_t*)>& body) {
  const std::int64_t length = out.empty() ? 1 : out.back(), total = elements(out);
  if (total == 0) return;
  const std::size_t outer_rank = out.empty() ? 0 : out.size() - 1;
  parallel(threads, total / length, std::max<std::int64_t>(1, 65536 / length), [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> index(outer_rank), offsets(operand_strides.size());
    std::int64_t rest = first;
    for (std::size_t axis = outer_rank; axis-- > 0;) {
      index[axis] = rest % out[axis];
      rest /= out[axis];
    }
    for (std::size_t k = 0; k < offsets.size(); ++k)
      for (std::size_t axis = 0; axis < outer_rank; ++axis) offsets[k] += index[axis] * operand_strides[k][axis];
    for (std::int64_t row = first; row < last; ++row) {
      body(row * length, offsets.data());
      for (std::size_t axis = outer_rank; axis-- > 0;) {
        for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += operand_strides[k][axis];
        if (++index[axis] < out[axis]) break;
        for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] -= out[axis] * operand_strides[k][axis];
        index[axis] = 0;
      }
    }
  });
}

Around::Around(const Extents& shape, int axis) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int>(i) < axis) outer *= shape[i];
    if (static_cast<int>(i) == axis) length = shape[i];
    if (static_cast<int>(i) > axis) inner *= shape[i];
  }
}

Array permuted(const Array& in, const std::vector<int>& order) {
  Array out;
  out.dtype = in.dtype;
  const Extents own = strides(in.shape);
  Extents steps;
  for (const int axis : order) {
    out.shape.push_back(in.shape[static_cast<std::size_t>(axis)]);
    steps.push_back(own[static_cast<std::size_t>(axis)]);
  }
  out.values.resize(in.values.size());
  const std::int64_t length = out.shape.empty() ? 1 : out.shape.back(), step = steps.empty() ? 1 : steps.back();
  for_rows(out.shape, {steps}, 1, [&](std::int64_t row, const std::int64_t* offset) {
    const double* from = in.values.data() + offset[0];
    for (std::int64_t i = 0; i < length; ++i) out.values[static_cast<std::size_t>(row + i)] = from[i * step];
  });
  return out;
}

double sum(const double* values, std::int64_t count, std::int64_t stride) {
  if (count <= 128) {
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += values[i * stride];
    return total;
  }
  const std::int64_t half = count / 2;
  return sum(values, half, stride) + sum(values + half * stride, count - half, stride);
}

}  // namespace cudal1::tensor
