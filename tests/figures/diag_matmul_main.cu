// SPDX-License-Identifier: Apache-2.0
// Calls a winner of examples/diag_matmul.cu through its host launch function and checks every element:
//   nvcc -arch=native -DWINNER='"best.cu"' diag_matmul_main.cu -o winner && ./winner
#include WINNER

#include <cstdio>
#include <vector>

int main() {
  const long long N = 517, M = 1030;
  std::vector<float> a(N), b(N * M), c(N * M, -1);
  for (long long i = 0; i < N; ++i) a[i] = 0.5f + static_cast<float>(i % 7);
  for (long long i = 0; i < N * M; ++i) b[i] = static_cast<float>(i % 1001) - 500;
  float *A, *B, *C;
  cudaMalloc(&A, N * sizeof(float));
  cudaMalloc(&B, N * M * sizeof(float));
  cudaMalloc(&C, N * M * sizeof(float));
  cudaMemcpy(A, a.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(B, b.data(), N * M * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(C, 0xff, N * M * sizeof(float));
  const cudaError_t launched = diag_matmul(A, B, C, N, M, nullptr);
  const cudaError_t finished = cudaDeviceSynchronize();
  cudaMemcpy(c.data(), C, N * M * sizeof(float), cudaMemcpyDeviceToHost);
  long long wrong = 0;
  for (long long i = 0; i < N * M; ++i) wrong += c[i] != a[i / M] * b[i];
  std::printf("%s, %s, %lld of %lld elements wrong\n", cudaGetErrorName(launched), cudaGetErrorName(finished), wrong, N * M);
  return launched != cudaSuccess || finished != cudaSuccess || wrong != 0;
}
