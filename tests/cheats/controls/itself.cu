// SPDX-License-Identifier: Apache-2.0
//! row   4.10
//! how   the reference as its own variant
//! task  square
//! judge final
//! all   EQUIVALENT
//@ launch  square<<<64, 64>>>(A, C, N)
__global__ void square(const float* A, float* C, int N) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = A[i] * A[i];
}
