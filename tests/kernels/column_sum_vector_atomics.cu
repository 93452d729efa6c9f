// SPDX-License-Identifier: Apache-2.0
// Column sums with one vector atomic for each four of them.
//@ torch   Y = X.sum(dim=0)
//@ size    N = 128, M = 256
//@ check   N = 45, M = 128
//@ input   X: float32[N, M]
//@ output  Y: float32[M]
//@ memset  Y = 0
//@ launch  columns<<<dim3(ceil_div(M, 128), ceil_div(N, 8)), 32>>>(X, Y, N, M)
__global__ void columns(const float4* X, float4* Y, int N, int M) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= M / 4) return;
  float4 sum = {0, 0, 0, 0};
  for (int row = blockIdx.y * 8; row < min(N, int(blockIdx.y * 8 + 8)); ++row) {
    const float4 v = X[row * (M / 4) + column];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
#if __CUDA_ARCH__ >= 900
  atomicAdd(Y + column, sum);
#else
  atomicAdd(&Y[column].x, sum.x), atomicAdd(&Y[column].y, sum.y), atomicAdd(&Y[column].z, sum.z), atomicAdd(&Y[column].w, sum.w);
#endif
}
