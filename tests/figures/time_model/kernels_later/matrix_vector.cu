// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector: a thread (0), a warp (1) or a block (2) per row; four columns at a time or one.
//@ size    N = 8192, M = 4096
//@ check   N = 256, M = 1024
//@ input   A: float32[N, M]
//@ input   X: float32[M]
//@ output  Y: float32[N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    WIDE = 0 | 1
//@ tune    BLOCK = 64 | 256
//@ launch  matrix_vector<<<FORM == 0 ? N / BLOCK : FORM == 1 ? N / (BLOCK / 32) : N, BLOCK>>>(A, X, Y, M)

__global__ void matrix_vector(const float* A, const float* X, float* Y, int M) {
  __shared__ float part[BLOCK / 32];
  int t = threadIdx.x, row = FORM == 0 ? blockIdx.x * BLOCK + t : FORM == 1 ? blockIdx.x * (BLOCK / 32) + t / 32 : blockIdx.x;
  int first = FORM == 0 ? 0 : FORM == 1 ? t % 32 : t, step = FORM == 0 ? 1 : FORM == 1 ? 32 : BLOCK;
  const float* a = A + row * M;
  float sum = 0;
  if (WIDE) {
    for (int i = first; i < M / 4; i += step) {
      float4 v = reinterpret_cast<const float4*>(a)[i], x = reinterpret_cast<const float4*>(X)[i];
      sum += v.x * x.x + v.y * x.y + v.z * x.z + v.w * x.w;
    }
  } else {
    for (int i = first; i < M; i += step) sum += a[i] * X[i];
  }
  if (FORM != 0)
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (FORM == 2) {
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < BLOCK / 32; ++k) sum += part[k];
  }
  if (FORM == 0 || (FORM == 1 ? t % 32 == 0 : t == 0)) Y[row] = sum;
}
