// SPDX-License-Identifier: Apache-2.0
// Exact GELU, four at a time, with a grid-stride loop.
//@ torch   Y = F.gelu(X)
//@ size    N = 4096
//@ check   N = 1028
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  gelu_all<<<4, 128>>>(X, Y, N / 4)
__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
__global__ void gelu_all(const float4* __restrict__ X, float4* __restrict__ Y, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float4 v = X[i];
    Y[i] = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
  }
}
