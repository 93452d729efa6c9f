// SPDX-License-Identifier: Apache-2.0
// Eight-bit integers on tensor cores with 32-bit sums.
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 96, M = 16
//@ input   A: int8[N, K] ~ randint(-100, 100)
//@ input   B: int8[M, K] ~ randint(-100, 100)
//@ output  C: int32[N, M]
//@ launch  matmul<<<dim3(M / 8, N / 16), 32>>>(A, B, C, K, M)
__global__ void matmul(const signed char* A, const signed char* B, int* C, int K, int M) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, column = blockIdx.x * 8;
  int c[4] = {};
  for (int k = 0; k < K; k += 32) {
    const auto a = [&](int r, int offset) { return *reinterpret_cast<const unsigned*>(&A[(row + r) * K + k + offset + 4 * t]); };
    const auto b = [&](int offset) { return *reinterpret_cast<const unsigned*>(&B[(column + g) * K + k + offset + 4 * t]); };
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a(g, 0)), "r"(a(g + 8, 0)), "r"(a(g, 16)), "r"(a(g + 8, 16)), "r"(b(0)), "r"(b(16)));
  }
  for (int i = 0; i < 4; ++i) C[(row + g + i / 2 * 8) * M + column + 2 * t + i % 2] = c[i];
}
