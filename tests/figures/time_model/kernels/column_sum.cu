// SPDX-License-Identifier: Apache-2.0
// Sums of columns: a thread walks a column, SPLIT threads share one through an atomic, four columns per thread, or a tile of threads.
//@ size    N = 8192, M = 4096
//@ check   N = 512, M = 256
//@ input   A: float32[N, M]
//@ output  C: float32[M]
//@ tune    FORM = 0 | 1 | 2
//@ tune    SPLIT = 1 | 8 | 64 | 256
//@ memset  C = 0
//@ launch  column_sum<<<dim3(FORM == 0 ? ceil_div(M, 128) : FORM == 1 ? ceil_div(M, 512) : ceil_div(M, 32), SPLIT), FORM == 2 ? 256 : 128>>>(A, C, N, M)

__global__ void column_sum(const float* A, float* C, int N, int M) {
  int rows = N / SPLIT, first = blockIdx.y * rows;
  if constexpr (FORM == 0) {
    int x = blockIdx.x * 128 + threadIdx.x;
    if (x >= M) return;
    float sum = 0;
    for (int y = first; y < first + rows; ++y) sum += A[y * M + x];
    atomicAdd(C + x, sum);
  } else if constexpr (FORM == 1) {
    int x = (blockIdx.x * 128 + threadIdx.x) * 4;
    if (x >= M) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int y = first; y < first + rows; ++y) {
      float4 v = *reinterpret_cast<const float4*>(A + y * M + x);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    atomicAdd(C + x, sum.x), atomicAdd(C + x + 1, sum.y), atomicAdd(C + x + 2, sum.z), atomicAdd(C + x + 3, sum.w);
  } else {
    __shared__ float part[8][32];
    int lane = threadIdx.x % 32, strip = threadIdx.x / 32, x = blockIdx.x * 32 + lane;
    float sum = 0;
    for (int y = first + strip; y < first + rows; y += 8) sum += A[y * M + x];
    part[strip][lane] = sum;
    __syncthreads();
    if (strip == 0) {
      for (int k = 1; k < 8; ++k) sum += part[k][lane];
      atomicAdd(C + x, sum);
    }
  }
}
