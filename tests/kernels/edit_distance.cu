// SPDX-License-Identifier: Apache-2.0
// Dynamic programming along anti-diagonals with a barrier for each.
//@ size    N = 64
//@ check   N = 40
//@ input   A: int32[4, N] ~ randint(0, 4)
//@ input   B: int32[4, N] ~ randint(0, 4)
//@ output  D: int32[4]
//@ launch  distance<<<4, 64, 3 * (N + 1) * 4>>>(A, B, D, N)
__global__ void distance(const int* A, const int* B, int* D, int N) {
  extern __shared__ int lines[];
  const int *a = A + blockIdx.x * N, *b = B + blockIdx.x * N;
  for (int d = 0; d <= 2 * N; ++d) {
    int *now = lines + d % 3 * (N + 1), *last = lines + (d + 2) % 3 * (N + 1), *before = lines + (d + 1) % 3 * (N + 1);
    for (int i = max(0, d - N) + threadIdx.x; i <= min(d, N); i += blockDim.x) {
      const int j = d - i;
      now[i] = i == 0 ? j : j == 0 ? i : min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) D[blockIdx.x] = lines[2 * N % 3 * (N + 1) + N];
}
