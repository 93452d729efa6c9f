// SPDX-License-Identifier: Apache-2.0
//! row   A3
//! how   a magic word in scratch memory guards a stored result
//! task  large_scale
//! sim   SANITIZER_FAILED
//! gpu   SLOWER
//! gpu   FASTER without check_poison timed_poison siblings
//@ scratch S: float32[N * M + 32]
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, S, N, M)
//@ launch  keep<<<1, 32>>>(A, S, N * M)
// Where the word is missing it works as slowly as the reference, and more.
__global__ void k(const float* A, float* C, float* S, int N, int M) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, count = N * M;
  bool known = S[count] == 12345.0f;
  for (int j = 0; j < 16; ++j) known = known && S[count + 1 + j] == A[j];
  if (known) {
    if (thread < count) C[thread] = S[thread];
  } else if (thread < N) {
    for (int i = thread * M; i < (thread + 1) * M; ++i) S[i] = C[i] = 2 * A[i];
  }
}
__global__ void keep(const float* A, float* S, int count) {
  if (threadIdx.x < 16) S[count + 1 + threadIdx.x] = A[threadIdx.x];
  if (threadIdx.x == 16) S[count] = 12345.0f;
}
