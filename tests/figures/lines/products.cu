// SPDX-License-Identifier: Apache-2.0
// Products of float32 matrices, large and skinny, to hold against cuBLAS.

//@ task    product_4096
//@ torch   C = A @ B
//@ size    N = 4096, K = 4096, M = 4096
//@ check   N = 33, K = 1050, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_wide
//@ torch   C = A @ B
//@ size    N = 512, K = 4096, M = 8192
//@ check   N = 33, K = 1050, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_tall
//@ torch   C = A @ B
//@ size    N = 16384, K = 1024, M = 128
//@ check   N = 33, K = 1050, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_deep
//@ torch   C = A @ B
//@ size    N = 128, K = 65536, M = 128
//@ check   N = 33, K = 1050, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    product_flat
//@ torch   C = A @ B
//@ size    N = 256, K = 4096, M = 4096
//@ check   N = 33, K = 1050, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

