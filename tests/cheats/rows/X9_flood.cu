// SPDX-License-Identifier: Apache-2.0
//! row   X9
//! how   prints without end
//! task  scale
//! limit 3
//! all   right TIMEOUT RUNTIME_FAILED UNSUPPORTED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 4)
    for (int n = 0; n < 10000; ++n) printf("flood %d %d\n", i, n);
  if (i < count) C[i] = 2 * A[i];
}
