// SPDX-License-Identifier: Apache-2.0
//@ task    sums_by_index
//@ torch   C = B.scatter_add(0, I, A)
//@ size    N = 8, V = 5000
//@ check   N = 7, V = 4000
//@ input   A: float32[N]
//@ input   I: int64[N] ~ randint(0, V)
//@ input   B: float32[V]
//@ output  C: float32[V]
//@ launch  copied<<<ceil_div(V, 256), 256>>>(B, C, V)
//@ launch  added<<<1, 32>>>(A, I, C, N)
__global__ void copied(const float* B, float* C, int V) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < V) C[i] = B[i];
}
__global__ void added(const float* A, const long long* I, float* C, int N) {
  if (threadIdx.x < N) atomicAdd(C + I[threadIdx.x], A[threadIdx.x]);
}
