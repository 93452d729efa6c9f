// SPDX-License-Identifier: Apache-2.0
// A warp for each row with float4 loads.
//@ torch   Y = A @ X
//@ size    N = 64, M = 256
//@ check   N = 13, M = 140
//@ input   A: float32[N, M]
//@ input   X: float32[M]
//@ output  Y: float32[N]
//@ launch  multiply<<<ceil_div(N, 4), 128>>>(A, X, Y, N, M)
__global__ void multiply(const float* A, const float* X, float* Y, int N, int M) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float4 *a = reinterpret_cast<const float4*>(A + size_t(row) * M), *x = reinterpret_cast<const float4*>(X);
  float sum = 0;
  for (int i = lane; i < M / 4; i += 32) {
    const float4 u = __ldg(a + i), v = __ldg(x + i);
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) Y[row] = sum;
}
