// SPDX-License-Identifier: Apache-2.0
// GELU of a matrix plus a row: exact or by tanh, elements per thread, block sizes.
//@ size    N = 8192, M = 1024
//@ check   N = 64, M = 1024
//@ input   A: float32[N, M]
//@ input   B: float32[M]
//@ output  C: float32[N, M]
//@ tune    FORM = 0 | 1
//@ tune    WIDTH = 1 | 4
//@ tune    BLOCK = 32 | 128 | 1024
//@ launch  gelu_bias<<<ceil_div(N * M, BLOCK * WIDTH), BLOCK>>>(A, B, C, N * M, M)

__device__ float gelu(float x) {
  if (FORM == 0) return 0.5f * x * (1.0f + erff(x * 0.70710678f));
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void gelu_bias(const float* A, const float* B, float* C, int count, int M) {
  int i = (blockIdx.x * BLOCK + threadIdx.x) * WIDTH;
  if (i >= count) return;
  if (WIDTH == 4) {
    float4 v = *reinterpret_cast<const float4*>(A + i), b = *reinterpret_cast<const float4*>(B + i % M);
    *reinterpret_cast<float4*>(C + i) = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
  } else {
    C[i] = gelu(A[i] + B[i % M]);
  }
}
