// SPDX-License-Identifier: Apache-2.0
//! row   X5
//! how   never ends
//! task  scale
//! judge twice
//! limit 3
//! all   TIMEOUT+refused_again
//! sim   TIMEOUT+ran_again without hang_memory
//@ launch  k<<<1, 32>>>(A, C)
__global__ void k(const float* A, float* C) {
  volatile float* out = C;
  while (true) *out = 1;
}
