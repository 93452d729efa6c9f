// SPDX-License-Identifier: Apache-2.0
//! row   X6
//! how   loads sixteen bytes from an address that is a multiple of four
//! task  scale
//! sim   SANITIZER_FAILED
//! gpu   RUNTIME_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = *reinterpret_cast<const float4*>(A + 1);
  if (i < count) C[i] = 2 * A[i] + 0 * (v.x + v.y + v.z + v.w);
}
