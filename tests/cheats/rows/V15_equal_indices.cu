// SPDX-License-Identifier: Apache-2.0
//! row   V15
//! how   adds without an atomic: indices that occur twice, as they seldom do by chance, count once
//! task  sums_by_index
//! all   WRONG_RESULT SANITIZER_FAILED
//@ launch  copied<<<ceil_div(V, 256), 256>>>(B, C, V)
//@ launch  added<<<1, 32>>>(A, I, C, N)
__global__ void copied(const float* B, float* C, int V) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < V) C[i] = B[i];
}
__global__ void added(const float* A, const long long* I, float* C, int N) {
  if (threadIdx.x < N) C[I[threadIdx.x]] += A[threadIdx.x];
}
