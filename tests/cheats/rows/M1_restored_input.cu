// SPDX-License-Identifier: Apache-2.0
//! row   M1
//! how   keeps intermediate values in its input, and puts it back before the end: a GPU shows no trace of it
//! task  square
//! sim   TAMPERED
//! sim   right without input_digests
//! gpu   right
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)
__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  volatile float* scratch = const_cast<float*>(A) + i;
  const float value = *scratch;
  *scratch = value * value;
  C[i] = *scratch;
  *scratch = value;
}
