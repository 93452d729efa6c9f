// SPDX-License-Identifier: Apache-2.0
// Softmax of rows: a thread per row (0), a block with three passes (1), with an online first pass (2), with the row kept in shared
// memory (3), a warp per row (4).
//@ size    N = 8192, M = 2048
//@ check   N = 16, M = 512
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ tune    FORM = 0 | 1 | 2 | 3 | 4
//@ tune    BLOCK = 64 | 256 | 1024 if FORM > 0 || BLOCK == 64
//@ launch  softmax<<<FORM == 0 ? ceil_div(N, BLOCK) : FORM == 4 ? ceil_div(N, BLOCK / 32) : N, BLOCK, FORM == 3 ? M * 4 : 0>>>(A, C, N, M)

template <bool maximum>
__device__ float warp_all(float v) {
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_xor_sync(0xffffffff, v, d);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  return v;
}

template <bool maximum>
__device__ float block_all(float v, float* part) {
  v = warp_all<maximum>(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (int k = 1; k < BLOCK / 32; ++k) v = maximum ? fmaxf(v, part[k]) : v + part[k];
  __syncthreads();
  return v;
}

__global__ void softmax(const float* A, float* C, int N, int M) {
  extern __shared__ float kept[];
  __shared__ float part[BLOCK / 32];
  int t = threadIdx.x;
  int row = FORM == 0 ? blockIdx.x * BLOCK + t : FORM == 4 ? blockIdx.x * (BLOCK / 32) + t / 32 : blockIdx.x;
  if (row >= N) return;
  const float* a = A + row * M;
  float* c = C + row * M;
  const int first = FORM == 0 ? 0 : FORM == 4 ? t % 32 : t, step = FORM == 0 ? 1 : FORM == 4 ? 32 : BLOCK;
  float most = -1e30f, sum = 0;
  if constexpr (FORM == 2) {
    for (int i = first; i < M; i += step) {
      float v = a[i], m = fmaxf(most, v);
      sum = sum * __expf(most - m) + __expf(v - m);
      most = m;
    }
    float all = block_all<true>(most, part);
    sum = block_all<false>(sum * __expf(most - all), part);
    most = all;
  } else {
    for (int i = first; i < M; i += step) {
      float v = a[i];
      if (FORM == 3) kept[i] = v;
      most = fmaxf(most, v);
    }
    if (FORM == 4) most = warp_all<true>(most);
    else if (FORM != 0) most = block_all<true>(most, part);
    for (int i = first; i < M; i += step) {
      float e = __expf((FORM == 3 ? kept[i] : a[i]) - most);
      if (FORM == 3) kept[i] = e;
      sum += e;
    }
    if (FORM == 4) sum = warp_all<false>(sum);
    else if (FORM != 0) sum = block_all<false>(sum, part);
  }
  float scale = 1.0f / sum;
  for (int i = first; i < M; i += step) c[i] = (FORM == 3 ? kept[i] : __expf(a[i] - most)) * scale;
}
