// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/judge.hpp"

#include <string>

// A task with a judge, on the simulator unless a test says otherwise. Workers are the test's own.
struct Court {
  explicit Court(const std::string& source, const std::string& device = "sim", double run_limit = 20)
      : Court(source, options(device, run_limit)) {}
  Court(const std::string& source, const cudal1::judge::Options& options)
      : task(cudal1::task::from_source(source, "task.cu")), compiler(compiler_options()), judge(task, compiler, options) {}

  static cudal1::compile::CompilerOptions compiler_options() {
    cudal1::compile::CompilerOptions options;
    options.worker = {CUDAL1_WORKER, {"compile"}};
    options.sandbox = cudal1::compile::sandbox_state().available;
    return options;
  }
  static cudal1::judge::Options options(const std::string& device, double run_limit) {
    cudal1::judge::Options result;
    result.device = device;
    result.worker = {CUDAL1_WORKER, {"device"}};
    result.seed = 42;
    result.run_limit = cudal1::base::Seconds{run_limit};
    return result;
  }

  cudal1::task::Task task;
  cudal1::compile::Compiler compiler;
  cudal1::judge::Judge judge;
};

// C = 2·A over rows, read against the grain: neighbouring threads touch different rows.
inline const std::string scale_task = R"(//@ task    scale
//@ torch   C = 2 * A
//@ size    N = 512, M = 512
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  scale<<<ceil_div(N, 64), 64>>>(A, C, N, M)
__global__ void scale(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N)
    for (int column = 0; column < M; ++column) C[row * M + column] = 2 * A[row * M + column];
}
)";

// One thread per element, neighbours together.
inline const std::string scale_fast = R"(//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
)";

inline const std::string row_sum_task = R"(//@ task    row_sum
//@ torch   C = A.sum(dim=1)
//@ size    N = 64, M = 512
//@ check   N = 5, M = 70
//@ input   A: float32[N, M]
//@ output  C: float32[N]
//@ launch  row_sum<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void row_sum(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int column = 0; column < M; ++column) sum += A[row * M + column];
  C[row] = sum;
}
)";
