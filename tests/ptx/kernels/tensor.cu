// SPDX-License-Identifier: Apache-2.0
// Tensor cores through wmma and through inline mma.sync; tensor.ptx is NVRTC's output (--gpu-architecture=compute_90).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class T, int M, int N, int K>
__device__ void wmma_product(const T* A, const T* B, float* C, int n) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, M, N, K, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < n; k += K) {
    wmma::load_matrix_sync(a, A + blockIdx.y * M * n + k, n);
    wmma::load_matrix_sync(b, B + k * n + blockIdx.x * N, n);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + blockIdx.y * M * n + blockIdx.x * N, c, n, wmma::mem_row_major);
}
extern "C" __global__ void wmma_f16(const half* A, const half* B, float* C, int n) { wmma_product<half, 16, 16, 16>(A, B, C, n); }
extern "C" __global__ void wmma_f16_wide(const half* A, const half* B, float* C, int n) { wmma_product<half, 8, 32, 16>(A, B, C, n); }
extern "C" __global__ void wmma_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int n) { wmma_product<__nv_bfloat16, 16, 16, 16>(A, B, C, n); }
extern "C" __global__ void wmma_shared_column(const half* A, const half* B, float* C, int n) {
  __shared__ half s[16 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) s[(i % 16) * 16 + i / 16] = B[i / 16 * n + i % 16];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, A, n);
  wmma::load_matrix_sync(b, s, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(C, c, n, wmma::mem_row_major);
}

// One 16 x 8 tile of C = A B with ldmatrix and mma.sync; B comes transposed by ldmatrix.
extern "C" __global__ void mma_f16(const half* A, const half* B, float* C, int n) {
  __shared__ __align__(16) half a[16][16], b[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) a[i / 16][i % 16] = A[i / 16 * n + i % 16];
  for (int i = lane; i < 128; i += 32) b[i / 8][i % 8] = B[i / 8 * n + i % 8];
  __syncthreads();
  unsigned ra[4], rb[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]), bt = (unsigned)__cvta_generic_to_shared(&b[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(bt));
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  int g = lane / 4, t = lane % 4;
  C[g * n + 2 * t] = c[0];
  C[g * n + 2 * t + 1] = c[1];
  C[(g + 8) * n + 2 * t] = c[2];
  C[(g + 8) * n + 2 * t + 1] = c[3];
}
extern "C" __global__ void mma_tf32(const float* A, const float* B, float* C, int n) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const unsigned *a = (const unsigned*)A, *b = (const unsigned*)B;
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[g * n + t]), "r"(a[(g + 8) * n + t]), "r"(a[g * n + t + 4]), "r"(a[(g + 8) * n + t + 4]), "r"(b[t * n + g]), "r"(b[(t + 4) * n + g]));
  for (int i = 0; i < 4; ++i) C[(g + i / 2 * 8) * n + 2 * t + i % 2] = c[i];
}
extern "C" __global__ void mma_f64(const double* A, const double* B, double* C, int n) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  double c[2] = {0, 0};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[0]), "+d"(c[1]) : "d"(A[g * n + t]), "d"(B[t * n + g]));
  C[g * n + 2 * t] = c[0];
  C[g * n + 2 * t + 1] = c[1];
}
extern "C" __global__ void mma_s8(const signed char* A, const signed char* B, int* C, int n) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned a[4], b[2];
  for (int r = 0; r < 4; ++r) a[r] = *(const unsigned*)(A + (g + (r & 1) * 8) * n + t * 4 + (r >> 1) * 16);
  for (int r = 0; r < 2; ++r) {
    b[r] = 0;
    for (int j = 0; j < 4; ++j) b[r] |= (unsigned)(unsigned char)B[(t * 4 + j + r * 16) * n + g] << (8 * j);
  }
  int c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; ++i) C[(g + i / 2 * 8) * n + 2 * t + i % 2] = c[i];
}
