// SPDX-License-Identifier: Apache-2.0
//@ task    shifted_relu
//@ torch   C = torch.relu(A) + B
//@ size    N = 8192
//@ check   N = 1001
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  C: float32[N]
//@ launch  shifted<<<ceil_div(N, 128), 128>>>(A, B, C, N)
__global__ void shifted(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) C[i] = (A[i] < 0 ? 0 : A[i]) + B[i];
}
