// SPDX-License-Identifier: Apache-2.0
// Sums of rows: a thread (0), a warp (1), a block with a tree in shared memory (2), with shuffles (3), with float4 too (4).
//@ size    N = 8192, M = 4096
//@ check   N = 64, M = 2048
//@ input   A: float32[N, M]
//@ output  C: float32[N]
//@ tune    FORM = 0 | 1 | 2 | 3 | 4
//@ tune    BLOCK = 64 | 256 | 1024 if FORM > 1 || BLOCK == 256
//@ launch  row_sum<<<FORM == 0 ? ceil_div(N, BLOCK) : FORM == 1 ? ceil_div(N, BLOCK / 32) : N, BLOCK>>>(A, C, N, M)

__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}

__global__ void row_sum(const float* A, float* C, int N, int M) {
  int t = threadIdx.x;
  float sum = 0;
  if constexpr (FORM == 0) {
    int row = blockIdx.x * BLOCK + t;
    if (row >= N) return;
    for (int i = 0; i < M; ++i) sum += A[row * M + i];
    C[row] = sum;
  } else if constexpr (FORM == 1) {
    int row = blockIdx.x * (BLOCK / 32) + t / 32;
    if (row >= N) return;
    for (int i = t % 32; i < M; i += 32) sum += A[row * M + i];
    sum = warp_sum(sum);
    if (t % 32 == 0) C[row] = sum;
  } else {
    __shared__ float part[BLOCK];
    int row = blockIdx.x;
    if constexpr (FORM == 4) {
      const float4* a = reinterpret_cast<const float4*>(A + row * M);
      for (int i = t; i < M / 4; i += BLOCK) { float4 v = a[i]; sum += v.x + v.y + v.z + v.w; }
    } else {
      for (int i = t; i < M; i += BLOCK) sum += A[row * M + i];
    }
    if constexpr (FORM == 2) {
      part[t] = sum;
      __syncthreads();
      for (int d = BLOCK / 2; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
      }
      if (t == 0) C[row] = part[0];
    } else {
      sum = warp_sum(sum);
      if (t % 32 == 0) part[t / 32] = sum;
      __syncthreads();
      if (t < 32) {
        sum = warp_sum(t < BLOCK / 32 ? part[t] : 0.0f);
        if (t == 0) C[row] = sum;
      }
    }
  }
}
