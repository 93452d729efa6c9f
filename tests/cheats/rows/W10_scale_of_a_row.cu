// SPDX-License-Identifier: Apache-2.0
//! row   W10
//! how   products of three float16 parts with one scale for each row of the inputs and of the weights: a large element that meets a zero costs the others their bits
//! task  module_linear
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<dim3(3, 32), 16>>>(x, linear_weight, linear_bias, output)
#include <cuda_fp16.h>
__device__ float scale(const float* row) {
  float largest = 1e-30f;
  for (int i = 0; i < 64; ++i) largest = fmaxf(largest, fabsf(row[i]));
  return exp2f(ceilf(log2f(largest)) - 10);
}
__device__ float part(float value) { return __half2float(__float2half_rn(value)); }
__global__ void k(const float* x, const float* w, const float* bias, float* y) {
  int column = blockIdx.x * 16 + threadIdx.x;
  x += blockIdx.y * 64, w += column * 64;
  const float mine = scale(x), theirs = scale(w);
  float sum = 0, rest = 0;
  for (int k = 0; k < 64; ++k) {
    float a = x[k] / mine, b = w[k] / theirs;
    float high = part(a), low = part(a - high), other = part(b), lower = part(b - other);
    sum += high * other, rest += high * lower + low * other;
  }
  y[blockIdx.y * 48 + column] = (sum + rest) * (mine * theirs) + bias[column];
}
