// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows of 1024: two passes for the statistics (0), one pass (1), the row in registers (2), a warp per row (3).
//@ size    N = 16384
//@ check   N = 64
//@ input   A: float32[N, 1024]
//@ input   G: float32[1024]
//@ input   B: float32[1024]
//@ output  C: float32[N, 1024]
//@ tune    FORM = 0 | 1 | 2 | 3
//@ tune    BLOCK = 64 | 256 | 512 if FORM != 2 || BLOCK == 256
//@ launch  layer_norm<<<FORM == 3 ? N / (BLOCK / 32) : N, BLOCK>>>(A, G, B, C)

__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

__device__ float block_sum(float v, float* part) {
  if constexpr (FORM == 3) return warp_sum(v);
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int k = 0; k < BLOCK / 32; ++k) v += part[k];
  return v;
}

__global__ void layer_norm(const float* A, const float* G, const float* B, float* C) {
  __shared__ float part[BLOCK / 32];
  constexpr int M = 1024, step = FORM == 3 ? 32 : BLOCK;
  int row = FORM == 3 ? blockIdx.x * (BLOCK / 32) + threadIdx.x / 32 : blockIdx.x, t = FORM == 3 ? threadIdx.x % 32 : threadIdx.x;
  const float* a = A + row * M;
  float* c = C + row * M;
  if constexpr (FORM == 2) {
    float4 v = reinterpret_cast<const float4*>(a)[t];
    float mean = block_sum(v.x + v.y + v.z + v.w, part) / M;
    v.x -= mean, v.y -= mean, v.z -= mean, v.w -= mean;
    float scale = rsqrtf(block_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, part) / M + 1e-5f);
    float4 g = reinterpret_cast<const float4*>(G)[t], b = reinterpret_cast<const float4*>(B)[t];
    reinterpret_cast<float4*>(c)[t] = make_float4(v.x * scale * g.x + b.x, v.y * scale * g.y + b.y, v.z * scale * g.z + b.z, v.w * scale * g.w + b.w);
  } else {
    float sum = 0, squares = 0;
    for (int i = t; i < M; i += step) {
      float v = a[i];
      sum += v;
      if (FORM != 0) squares += v * v;
    }
    float mean = block_sum(sum, part) / M;
    if constexpr (FORM == 0)
      for (int i = t; i < M; i += step) squares += (a[i] - mean) * (a[i] - mean);
    float variance = block_sum(squares, part) / M - (FORM == 0 ? 0.0f : mean * mean);
    float scale = rsqrtf(variance + 1e-5f);
    for (int i = t; i < M; i += step) c[i] = (a[i] - mean) * scale * G[i] + B[i];
  }
}
