// SPDX-License-Identifier: Apache-2.0
// Layer norm with float4 loads and the row kept in shared memory.
//@ torch   Y = F.layer_norm(X, (M,), weight, bias, 1e-5)
//@ size    N = 64, M = 1024
//@ check   N = 5, M = 132
//@ input   X: float32[N, M]
//@ input   weight: float32[M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  normalise<<<N, 64, M * 4>>>(X, weight, bias, Y, M)
__device__ float block_sum(float v, float* scratch) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  return scratch[0] + scratch[1];
}
__global__ void normalise(const float* X, const float* weight, const float* bias, float* Y, int M) {
  extern __shared__ float4 row[];
  __shared__ float scratch[2];
  float sum = 0;
  for (int i = threadIdx.x; i < M / 4; i += 64) {
    const float4 v = reinterpret_cast<const float4*>(X + size_t(blockIdx.x) * M)[i];
    row[i] = v;
    sum += v.x + v.y + v.z + v.w;
  }
  const float mean = block_sum(sum, scratch) / M;
  sum = 0;
  for (int i = threadIdx.x; i < M / 4; i += 64) {
    const float4 v = row[i];
    sum += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean) + (v.z - mean) * (v.z - mean) + (v.w - mean) * (v.w - mean);
  }
  const float scale = rsqrtf(block_sum(sum, scratch) / M + 1e-5f);
  for (int i = threadIdx.x; i < M / 4; i += 64) {
    const float4 v = row[i], w = reinterpret_cast<const float4*>(weight)[i], b = reinterpret_cast<const float4*>(bias)[i];
    reinterpret_cast<float4*>(Y + size_t(blockIdx.x) * M)[i] =
        make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y, (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w);
  }
}
