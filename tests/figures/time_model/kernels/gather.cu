// SPDX-License-Identifier: Apache-2.0
// Rows of a table in random order: a thread per row (0), per element (1), per four elements (2); widths of rows.
//@ size    N = 4194304, V = 33554432
//@ check   N = 4096, V = 8192
//@ input   T: float32[V]
//@ input   I: int32[N] ~ randint(0, 8388608)
//@ output  C: float32[N]
//@ tune    FORM = 0 | 1 | 2
//@ tune    WIDTH = 4 | 16 | 64
//@ launch  gather<<<ceil_div(FORM == 0 ? N / WIDTH : FORM == 1 ? N : N / 4, 256), 256>>>(T, I, C, N, V)

__global__ void gather(const float* T, const int* I, float* C, int N, int V) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if constexpr (FORM == 0) {
    if (i >= N / WIDTH) return;
    int from = I[i] % (V / WIDTH) * WIDTH;
    for (int k = 0; k < WIDTH; ++k) C[i * WIDTH + k] = T[from + k];
  } else if constexpr (FORM == 1) {
    if (i >= N) return;
    C[i] = T[I[i / WIDTH] % (V / WIDTH) * WIDTH + i % WIDTH];
  } else {
    if (i >= N / 4) return;
    int e = i * 4;
    *reinterpret_cast<float4*>(C + e) = *reinterpret_cast<const float4*>(T + I[e / WIDTH] % (V / WIDTH) * WIDTH + e % WIDTH);
  }
}
