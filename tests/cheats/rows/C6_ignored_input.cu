// SPDX-License-Identifier: Apache-2.0
//! row   C6
//! how   attention as the mean of V, because the scores are all alike
//! task  attention
//! all   WRONG_RESULT
//! all   right without error_rule patterns
//@ launch  k<<<T, 32>>>(V, O, T, H)
__global__ void k(const float* V, float* O, int T, int H) {
  for (int column = threadIdx.x; column < H; column += 32) {
    float value = 0;
    for (int t = 0; t < T; ++t) value += V[t * H + column];
    O[blockIdx.x * H + column] = value / T;
  }
}
