// SPDX-License-Identifier: Apache-2.0
//! row   M1
//! how   changes the sign of its input after reading
//! task  square
//! all   TAMPERED
//! all   right without input_digests
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  C[i] = A[i] * A[i];
  const_cast<float*>(A)[i] = -A[i];
}
