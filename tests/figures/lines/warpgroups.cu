// SPDX-License-Identifier: Apache-2.0
// Products for the warpgroups of compute capability 9.0, to hold against cuBLAS.

//@ task    product_2048
//@ torch   C = A @ B
//@ size    N = 2048, K = 2048, M = 2048
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_4096
//@ torch   C = A @ B
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_8192
//@ torch   C = A @ B
//@ size    N = 8192, K = 8192, M = 8192
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_nt_4096
//@ torch   C = A @ B.T
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[M, K]
//@ output  C: float32[N, M]
//@ launch  matmul<false, true><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_wide_512
//@ torch   C = A @ B
//@ size    N = 512, K = 4096, M = 8192
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_1024
//@ torch   C = A @ B
//@ size    N = 1024, K = 1024, M = 1024
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_bf16_nt_2048
//@ torch   C = A @ B.T
//@ size    N = 2048, K = 2048, M = 2048
//@ check   N = 136, K = 1048, M = 72
//@ input   A: bfloat16[N, K]
//@ input   B: bfloat16[M, K]
//@ output  C: bfloat16[N, M]
//@ launch  sixteen_bits<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, M, K)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int N, int M, int K) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += float(A[size_t(i / M) * K + k]) * float(B[size_t(i % M) * K + k]);
  C[i] = __nv_bfloat16(sum);
}

//@ task    product_bf16_nt_4096
//@ torch   C = A @ B.T
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 136, K = 1048, M = 72
//@ input   A: bfloat16[N, K]
//@ input   B: bfloat16[M, K]
//@ output  C: bfloat16[N, M]
//@ launch  sixteen_bits<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, M, K)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int N, int M, int K) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += float(A[size_t(i / M) * K + k]) * float(B[size_t(i % M) * K + k]);
  C[i] = __nv_bfloat16(sum);
}

//@ task    product_bf16_nt_8192
//@ torch   C = A @ B.T
//@ size    N = 8192, K = 8192, M = 8192
//@ check   N = 136, K = 1048, M = 72
//@ input   A: bfloat16[N, K]
//@ input   B: bfloat16[M, K]
//@ output  C: bfloat16[N, M]
//@ launch  sixteen_bits<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, M, K)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int N, int M, int K) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += float(A[size_t(i / M) * K + k]) * float(B[size_t(i % M) * K + k]);
  C[i] = __nv_bfloat16(sum);
}

//@ task    product_bf16_4096
//@ torch   C = A @ B
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 136, K = 1048, M = 72
//@ input   A: bfloat16[N, K]
//@ input   B: bfloat16[K, M]
//@ output  C: bfloat16[N, M]
//@ launch  sixteen_bits<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, M, K)
#include <cuda_bf16.h>
__global__ void sixteen_bits(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int N, int M, int K) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += float(A[size_t(i / M) * K + k]) * float(B[size_t(k) * M + i % M]);
  C[i] = __nv_bfloat16(sum);
}

//@ task    product_f16_4096
//@ torch   C = A @ B
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 136, K = 1048, M = 72
//@ input   A: float16[N, K]
//@ input   B: float16[K, M]
//@ output  C: float16[N, M]
//@ launch  sixteen_bits<<<ceil_div(N * M, 256), 256>>>(A, B, C, N, M, K)
#include <cuda_fp16.h>
__global__ void sixteen_bits(const __half* A, const __half* B, __half* C, int N, int M, int K) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N * M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += float(A[size_t(i / M) * K + k]) * float(B[size_t(k) * M + i % M]);
  C[i] = __half(sum);
}

