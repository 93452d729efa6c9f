// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::kernel {

// The task and the answer that the manual shows.
inline constexpr const char* diag_matmul_task = R"cuda(//@ task    diag_matmul
//@ torch   C = torch.diag(A) @ B
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   A: float32[N]
//@ input   B: float32[N, M] ~ normal
//@ output  C: float32[N, M]
//@ launch  diag_matmul<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, M)

__global__ void diag_matmul(const float* A, const float* B, float* C, int N, int M) {
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= N || column >= M) return;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += (k == row ? A[k] : 0.0f) * B[size_t(k) * M + column];
  C[size_t(row) * M + column] = sum;
}
)cuda";

inline constexpr const char* diag_matmul_answer = R"cuda(//@ of      diag_matmul.cu sha256:9c1e
//@ tune    BLOCK = 128 | 256 | 512
//@ launch  scale_rows<<<dim3(ceil_div(M, BLOCK), N), BLOCK>>>(A, B, C, N, M)

__global__ void scale_rows(const float* A, const float* B, float* C, int N, int M) {
  int column = blockIdx.x * BLOCK + threadIdx.x;
  if (column < M) C[size_t(blockIdx.y) * M + column] = A[blockIdx.y] * B[size_t(blockIdx.y) * M + column];
}
)cuda";

}  // namespace cudal1::kernel
