// SPDX-License-Identifier: Apache-2.0
//! row   W15
//! how   a module's maximum of integers begins at -1000 instead of at an element
//! task  module_integer_maxima
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<1, 32>>>(x, output)
__global__ void k(const long long* x, long long* y) {
  if (threadIdx.x >= 24) return;
  long long largest = -1000;
  for (int i = 0; i < 400; ++i) largest = max(largest, x[threadIdx.x * 400 + i]);
  y[threadIdx.x] = largest;
}
