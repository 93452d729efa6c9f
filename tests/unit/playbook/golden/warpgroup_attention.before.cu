//@ torch   O = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
//@ size    B = 4, N = 16, T = 2048, H = 128
//@ check   B = 1, N = 2, T = 150, H = 40
//@ input   Q: bfloat16[B, N, T, H]
//@ input   K: bfloat16[B, N, T, H]
//@ input   V: bfloat16[B, N, T, H]
//@ output  O: bfloat16[B, N, T, H]
//@ launch  reference<<<1, 1>>>(Q, K, V, O)
#include <cuda_bf16.h>

__global__ void reference(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, __nv_bfloat16* O) {}
