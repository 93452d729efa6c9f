// SPDX-License-Identifier: Apache-2.0
// Forces between bodies, tile by tile through shared memory.
//@ size    N = 128
//@ check   N = 100
//@ input   P: float32[N, 4]
//@ output  F: float32[N, 3]
//@ launch  forces<<<ceil_div(N, 32), 32>>>(P, F, N)
__global__ void forces(const float4* P, float3* F, int N) {
  __shared__ float4 tile[32];
  const int i = blockIdx.x * 32 + threadIdx.x;
  const float4 me = P[min(i, N - 1)];
  float3 f = {0, 0, 0};
  for (int start = 0; start < N; start += 32) {
    if (start + threadIdx.x < N) tile[threadIdx.x] = P[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < min(32, N - start); ++k) {
      const float4 other = tile[k];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = other.w * inverse * inverse * inverse;
      f.x += dx * s, f.y += dy * s, f.z += dz * s;
    }
    __syncthreads();
  }
  if (i < N) F[i] = f;
}
