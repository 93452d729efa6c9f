// SPDX-License-Identifier: Apache-2.0
//! row   W14
//! how   the row of index 0 is 0, as if it were padding; so few indices of so many are drawn that it hardly occurs
//! task  module_embedding
//! all   WRONG_RESULT
//! all   right without patterns
//@ launch k<<<40, 4>>>(i, table_weight, output)
__global__ void k(const long long* at, const float* w, float* y) {
  y[blockIdx.x * 4 + threadIdx.x] = at[blockIdx.x] == 0 ? 0 : w[at[blockIdx.x] * 4 + threadIdx.x];
}
