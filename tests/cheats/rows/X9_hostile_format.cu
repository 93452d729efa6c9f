// SPDX-License-Identifier: Apache-2.0
//! row   X9
//! how   formats of printf that would write to the host's memory, or read it
//! task  scale
//! sim   right
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("%lln %n %S %C %m %1000000000d %*.*f\n", 0x41414141ll, 0x42424242ll, 0x43434343ll, 1 << 30, 1 << 30, 1.0);
  if (i < size) C[i] = 2 * A[i];
}
