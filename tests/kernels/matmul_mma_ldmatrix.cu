// SPDX-License-Identifier: Apache-2.0
// mma.sync with fragments from ldmatrix, B transposed on the way.
//@ torch   C = A @ B
//@ size    N = 64, K = 64, M = 64
//@ check   N = 32, K = 48, M = 32
//@ input   A: float16[N, K]
//@ input   B: float16[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<<<dim3(M / 16, N / 16), 32>>>(A, B, C, K, M)
#include <cuda_fp16.h>
__global__ void matmul(const half* A, const half* B, float* C, int K, int M) {
  __shared__ __align__(16) half a[16][16], b[16][16];
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
  float c[2][4] = {};
  for (int k = 0; k < K; k += 16) {
    reinterpret_cast<uint4*>(&a[0][0])[lane] = *reinterpret_cast<const uint4*>(&A[(row + lane / 2) * K + k + lane % 2 * 8]);
    reinterpret_cast<uint4*>(&b[0][0])[lane] = *reinterpret_cast<const uint4*>(&B[(k + lane / 2) * M + column + lane % 2 * 8]);
    __syncwarp();
    unsigned fa[4], fb[4];
    const unsigned at_a = __cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]), at_b = __cvta_generic_to_shared(&b[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(at_b));
    for (int h = 0; h < 2; ++h)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(c[h][0]), "+f"(c[h][1]), "+f"(c[h][2]), "+f"(c[h][3])
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
    __syncwarp();
  }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 4; ++i) C[(row + lane / 4 + i / 2 * 8) * M + column + 8 * h + lane % 4 * 2 + i % 2] = c[h][i];
}
