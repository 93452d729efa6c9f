// SPDX-License-Identifier: Apache-2.0
//! row   3
//! how   outputs that depend on which block comes first
//! gpu   TASK_UNSTABLE
//! gpu   accepted without task_gate
//@ size    N = 16384
//@ check   N = 4096
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ scratch T: int32[1] = 0
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, T, N)
__global__ void k(const float* A, float* C, int* T, int N) {
  __shared__ int number;
  if (threadIdx.x == 0) number = atomicAdd(T, 1);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] * (1 + number);
}
