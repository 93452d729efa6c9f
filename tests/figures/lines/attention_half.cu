// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 and of halves, for the warpgroups of compute capability 9.0.

//@ task    attention_bf16
//@ torch   O = F.scaled_dot_product_attention(Q, K, V)
//@ size    B = 4, N = 16, T = 4096, H = 128
//@ check   B = 1, N = 2, T = 270, H = 120
//@ check   B = 3, N = 1, T = 70, H = 24
//@ input   Q: bfloat16[B, N, T, H]
//@ input   K: bfloat16[B, N, T, H]
//@ input   V: bfloat16[B, N, T, H]
//@ output  O: bfloat16[B, N, T, H]
//@ launch  sixteen_bits<<<dim3(T, B * N), 128>>>(Q, K, V, O, T, H)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, __nv_bfloat16* O, int T, int H) {
  const size_t matrix = size_t(blockIdx.y) * T * H;
  const int row = blockIdx.x, column = threadIdx.x;
  float largest = -1e30f, total = 0, sum = 0;
  for (int key = 0; key < T; ++key) {
    float score = 0;
    for (int i = 0; i < H; ++i) score += float(Q[matrix + size_t(row) * H + i]) * float(K[matrix + size_t(key) * H + i]);
    score /= sqrtf(float(H));
    const float most = fmaxf(largest, score), by = expf(largest - most), weight = expf(score - most);
    total = total * by + weight;
    sum = sum * by + (column < H ? weight * float(V[matrix + size_t(key) * H + column]) : 0);
    largest = most;
  }
  if (column < H) O[matrix + size_t(row) * H + column] = __nv_bfloat16(sum / total);
}

//@ task    causal_attention_bf16
//@ torch   O = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
//@ size    B = 4, N = 16, T = 4096, H = 128
//@ check   B = 1, N = 2, T = 270, H = 120
//@ check   B = 3, N = 1, T = 70, H = 24
//@ input   Q: bfloat16[B, N, T, H]
//@ input   K: bfloat16[B, N, T, H]
//@ input   V: bfloat16[B, N, T, H]
//@ output  O: bfloat16[B, N, T, H]
//@ launch  sixteen_bits<<<dim3(T, B * N), 128>>>(Q, K, V, O, T, H)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, __nv_bfloat16* O, int T, int H) {
  const size_t matrix = size_t(blockIdx.y) * T * H;
  const int row = blockIdx.x, column = threadIdx.x;
  float largest = -1e30f, total = 0, sum = 0;
  for (int key = 0; key <= row; ++key) {
    float score = 0;
    for (int i = 0; i < H; ++i) score += float(Q[matrix + size_t(row) * H + i]) * float(K[matrix + size_t(key) * H + i]);
    score /= sqrtf(float(H));
    const float most = fmaxf(largest, score), by = expf(largest - most), weight = expf(score - most);
    total = total * by + weight;
    sum = sum * by + (column < H ? weight * float(V[matrix + size_t(key) * H + column]) : 0);
    largest = most;
  }
  if (column < H) O[matrix + size_t(row) * H + column] = __nv_bfloat16(sum / total);
}

//@ task    scaled_attention_f16
//@ torch   O = F.scaled_dot_product_attention(Q, K, V, scale=0.1)
//@ size    B = 1, N = 16, T = 2048, H = 64
//@ check   B = 1, N = 2, T = 270, H = 56
//@ check   B = 3, N = 1, T = 70, H = 24
//@ input   Q: float16[B, N, T, H]
//@ input   K: float16[B, N, T, H]
//@ input   V: float16[B, N, T, H]
//@ output  O: float16[B, N, T, H]
//@ launch  sixteen_bits<<<dim3(T, B * N), 128>>>(Q, K, V, O, T, H)
#include <cuda_fp16.h>
__global__ void sixteen_bits(const __half* Q, const __half* K, const __half* V, __half* O, int T, int H) {
  const size_t matrix = size_t(blockIdx.y) * T * H;
  const int row = blockIdx.x, column = threadIdx.x;
  float largest = -1e30f, total = 0, sum = 0;
  for (int key = 0; key < T; ++key) {
    float score = 0;
    for (int i = 0; i < H; ++i) score += float(Q[matrix + size_t(row) * H + i]) * float(K[matrix + size_t(key) * H + i]);
    score *= 0.1f;
    const float most = fmaxf(largest, score), by = expf(largest - most), weight = expf(score - most);
    total = total * by + weight;
    sum = sum * by + (column < H ? weight * float(V[matrix + size_t(key) * H + column]) : 0);
    largest = most;
  }
  if (column < H) O[matrix + size_t(row) * H + column] = __half(sum / total);
}
