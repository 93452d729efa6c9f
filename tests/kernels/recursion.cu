// SPDX-License-Identifier: Apache-2.0
// Rows sorted by a quicksort that calls itself, and added up by halves whose sums arrive in variables of their caller.
//@ torch   Y = torch.sort(X, dim=1)[0]; S = sum(X, 1)
//@ size    N = 70
//@ check   N = 33
//@ input   X: float32[N, 12]
//@ output  Y: float32[N, 12]
//@ output  S: float32[N]
//@ launch  rows<<<ceil_div(N, 64), 64>>>(X, Y, S, N)
__device__ __noinline__ void sort(float* a, int n) {
  if (n < 2) return;
  const float pivot = a[n / 2];
  int i = 0, j = n - 1;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      const float t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  sort(a, j + 1);
  sort(a + i, n - i);
}

// Each call has two numbers of its own that the next calls write.
__device__ __noinline__ void add_up(const float* a, int n, float* result) {
  if (n == 1) {
    *result = a[0];
    return;
  }
  float halves[2];
  add_up(a, n / 2, halves);
  add_up(a + n / 2, n - n / 2, halves + 1);
  *result = halves[0] + halves[1];
}

__global__ void rows(const float* X, float* Y, float* S, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= N) return;
  float a[12];
  for (int i = 0; i < 12; ++i) a[i] = X[row * 12 + i];
  add_up(a, row % 3 == 0 ? 12 : 11, S + row);   // the threads of a warp go different ways
  if (row % 3 != 0) S[row] += a[11];
  sort(a, 12);
  for (int i = 0; i < 12; ++i) Y[row * 12 + i] = a[i];
}
