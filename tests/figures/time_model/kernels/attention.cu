// SPDX-License-Identifier: Apache-2.0
// Attention with 64 channels: a thread per query from global memory (0), keys and values in shared memory (1), a warp per query (2).
//@ size    H = 32, S = 1024
//@ check   H = 1, S = 128
//@ input   Q: float32[H, S, 64]
//@ input   K: float32[H, S, 64]
//@ input   V: float32[H, S, 64]
//@ output  O: float32[H, S, 64]
//@ tune    FORM = 0 | 1 | 2
//@ tune    BLOCK = 64 | 128
//@ tune    KEYS = 8 | 32 if FORM == 1 || KEYS == 8
//@ launch  attention<<<dim3(FORM == 2 ? S / (BLOCK / 32) : S / BLOCK, H), BLOCK>>>(Q, K, V, O, S)

__global__ void __launch_bounds__(BLOCK) attention(const float* Q, const float* K, const float* V, float* O, int S) {
  const float *k = K + blockIdx.y * S * 64, *v = V + blockIdx.y * S * 64;
  float most = -1e30f, sum = 0;
  if constexpr (FORM == 2) {
    int query = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float* q = Q + (blockIdx.y * S + query) * 64;
    float q0 = q[lane], q1 = q[lane + 32], o0 = 0, o1 = 0;
    for (int j = 0; j < S; ++j) {
      float score = q0 * k[j * 64 + lane] + q1 * k[j * 64 + lane + 32];
      for (int d = 16; d > 0; d /= 2) score += __shfl_xor_sync(0xffffffff, score, d);
      score *= 0.125f;
      float m = fmaxf(most, score), old = __expf(most - m), w = __expf(score - m);
      sum = sum * old + w, o0 = o0 * old + w * v[j * 64 + lane], o1 = o1 * old + w * v[j * 64 + lane + 32];
      most = m;
    }
    float* o = O + (blockIdx.y * S + query) * 64;
    o[lane] = o0 / sum, o[lane + 32] = o1 / sum;
  } else {
    __shared__ float ks[FORM == 1 ? KEYS : 1][64], vs[FORM == 1 ? KEYS : 1][64];
    int query = blockIdx.x * BLOCK + threadIdx.x;
    float q[64], o[64];
#pragma unroll
    for (int c = 0; c < 64; ++c) q[c] = 0.125f * Q[(blockIdx.y * S + query) * 64 + c], o[c] = 0;
    for (int start = 0; start < S; start += KEYS) {
      if (FORM == 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < KEYS * 64; i += BLOCK) ks[i / 64][i % 64] = k[start * 64 + i], vs[i / 64][i % 64] = v[start * 64 + i];
        __syncthreads();
      }
      for (int j = 0; j < KEYS; ++j) {
        float score = 0;
#pragma unroll
        for (int c = 0; c < 64; ++c) score += q[c] * (FORM == 1 ? ks[j][c] : k[(start + j) * 64 + c]);
        float m = fmaxf(most, score), old = __expf(most - m), w = __expf(score - m);
        sum = sum * old + w;
#pragma unroll
        for (int c = 0; c < 64; ++c) o[c] = o[c] * old + w * (FORM == 1 ? vs[j][c] : v[(start + j) * 64 + c]);
        most = m;
      }
    }
#pragma unroll
    for (int c = 0; c < 64; ++c) O[(blockIdx.y * S + query) * 64 + c] = o[c] / sum;
  }
}
