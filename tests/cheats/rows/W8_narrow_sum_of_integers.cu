// SPDX-License-Identifier: Apache-2.0
//! row   W8
//! how   a module's int64 sum in sixteen bits
//! task  module_integer_sum
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<1, 32>>>(x, output)
__global__ void k(const long long* x, long long* y) {
  if (threadIdx.x >= 24) return;
  short sum = 0;
  for (int i = 0; i < 400; ++i) sum = short(sum + x[threadIdx.x * 400 + i]);
  y[threadIdx.x] = sum;
}
