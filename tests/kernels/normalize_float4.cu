// SPDX-License-Identifier: Apache-2.0
// Rows divided by their Euclidean norm, four floats at a time.
//@ torch   Y = F.normalize(X, dim=1)
//@ size    N = 64, M = 1024
//@ check   N = 6, M = 260
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  normalize<<<N, 64>>>(X, Y, M / 4)
__global__ void normalize(const float4* X, float4* Y, int M4) {
  __shared__ float warp_sums[2];
  const float4* x = X + size_t(blockIdx.x) * M4;
  float sum = 0;
  for (int i = threadIdx.x; i < M4; i += blockDim.x) {
    const float4 v = x[i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
#pragma unroll
  for (int offset = 16; offset; offset >>= 1) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = 1.0f / fmaxf(sqrtf(warp_sums[0] + warp_sums[1]), 1e-12f);
  for (int i = threadIdx.x; i < M4; i += blockDim.x) {
    float4 v = x[i];
    v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
    Y[size_t(blockIdx.x) * M4 + i] = v;
  }
}
