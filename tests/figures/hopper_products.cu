// SPDX-License-Identifier: Apache-2.0
// Times the products of tests/kernels/hopper_product_{bf16,float32}.cu beside cuBLAS on a GPU of compute capability 9.0, and their errors.
//   nvcc -std=c++17 -O2 -I FOLDER_WITH_HOPPER_CUH -gencode arch=compute_90a,code=sm_90a -o hopper_products tests/figures/hopper_products.cu -lcublas && ./hopper_products
// Each time is the median of 20 after 3, with the L2 cache overwritten in front of each.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

// Once, outside of the namespaces below.
#include "hopper.cuh"
#include <cuda_fp16.h>

namespace bf16 {
#include "../kernels/hopper_product_bf16.cu"
}
namespace float32 {
#include "../kernels/hopper_product_float32.cu"
}

#define OK(call)                                                                        \
  do {                                                                                  \
    const int status = (int)(call);                                                     \
    if (status != 0) std::printf("%s: %d\n", #call, status), std::exit(1);              \
  } while (0)

CUtensorMap map_of(CUtensorMapDataType type, int size, const void* address, unsigned long long inner, unsigned long long outer, unsigned long long pitch, unsigned box_inner,
                   unsigned box_outer) {
  static decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (!encode) OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &found));
  CUtensorMap map;
  const cuuint64_t extents[] = {inner, outer}, strides[] = {pitch * size};
  const cuuint32_t box[] = {box_inner, box_outer}, ones[] = {1, 1};
  OK(encode(&map, type, 2, (void*)address, extents, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

void* flush = nullptr;
double median_ms(const std::function<void()>& run) {
  cudaEvent_t start, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 23; ++i) {
    OK(cudaMemsetAsync(flush, i, 256 << 20));
    OK(cudaEventRecord(start));
    run();
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    float ms;
    OK(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 3) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// rms of the error over the rms of the result, at some cells, against double.
template <class Left, class Right>
double error(const std::vector<float>& c, int n, Left left, Right right) {
  double wrong = 0, all = 0;
  for (int s = 0; s < 400; ++s) {
    const int row = s * 7919 % n, column = s * 104729 % n;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += (double)left(row, k) * right(k, column);
    wrong += (c[(size_t)row * n + column] - sum) * (c[(size_t)row * n + column] - sum), all += sum * sum;
  }
  return std::sqrt(wrong / all);
}

template <class T>
T* device(const std::vector<T>& host) {
  T* p;
  OK(cudaMalloc(&p, host.size() * sizeof(T)));
  OK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

void size(int n, cublasHandle_t cublas) {
  std::mt19937 random(n);
  std::normal_distribution<float> normal;
  const size_t cells = (size_t)n * n;
  std::vector<float> a(cells), b(cells), c(cells);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  const double flops = 2.0 * n * n * n;
  float *A = device(a), *B = device(b), *C = device(c);
  const float one = 1, zero = 0;
  const auto report = [&](const char* name, double ms, double err) { std::printf("%5d  %-28s %8.3f ms %7.1f TFLOP/s  error %.1e\n", n, name, ms, flops / ms / 1e9, err); };
  const auto fetch = [&] { OK(cudaMemcpy(c.data(), C, cells * 4, cudaMemcpyDeviceToHost)); };
  const auto exact = [&](const char* name, double ms) {
    fetch();
    report(name, ms, error(c, n, [&](int i, int k) { return a[(size_t)i * n + k]; }, [&](int k, int j) { return b[(size_t)k * n + j]; }));
  };
  OK(cublasSetMathMode(cublas, CUBLAS_PEDANTIC_MATH));
  exact("cuBLAS float32", median_ms([&] { OK(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, B, n, A, n, &zero, C, n)); }));
  {
    __half *AH, *AL, *BH, *BL;
    float *RA, *RB;
    int* odd;
    for (__half** p : {&AH, &AL, &BH, &BL}) OK(cudaMalloc(p, cells * 2));
    for (float** p : {&RA, &RB}) OK(cudaMalloc(p, n * 4));
    OK(cudaMalloc(&odd, 4));
    const auto half_map = [&](const __half* p, unsigned rows) { return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, n, n, n, 64, rows); };
    const CUtensorMap ah = half_map(AH, 128), al = half_map(AL, 128), bh = half_map(BH, 64), bl = half_map(BL, 64);
    OK(cudaFuncSetAttribute(float32::product, cudaFuncAttributeMaxDynamicSharedMemorySize, 3 * 65536 + 1024));
    const auto split = [&] {
      OK(cudaMemsetAsync(odd, 0, 4));
      float32::split_rows<<<n, 128>>>(A, AH, AL, RA, odd, n, n);
      float32::split_columns<<<n / 32, dim3(32, 8)>>>(B, BH, BL, RB, odd, n, n, n);
    };
    const auto multiply = [&] { float32::product<<<dim3(n / 128, n / 128), 384, 3 * 65536 + 1024>>>(ah, al, bh, bl, RA, RB, odd, C, n, n, n); };
    OK(cudaMemset(C, 0, cells * 4));
    exact("three products of halves", median_ms([&] {
            split(), multiply();
            float32::plain_product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, odd, C, n, n, n);
          }));
    std::printf("%5d    its split alone %.3f ms, its products alone %.3f ms\n", n, median_ms(split), median_ms(multiply));
    OK(cudaGetLastError());
    for (__half* p : {AH, AL, BH, BL}) cudaFree(p);
    cudaFree(RA), cudaFree(RB), cudaFree(odd);
  }
  {
    std::vector<__nv_bfloat16> x(cells), y(cells);
    for (size_t i = 0; i < cells; ++i) x[i] = __float2bfloat16(a[i]), y[i] = __float2bfloat16(b[i]);  // y: N x K
    __nv_bfloat16 *X = device(x), *Y = device(y);
    const auto check = [&](const char* name, double ms) {
      fetch();
      report(name, ms, error(c, n, [&](int i, int k) { return __bfloat162float(x[(size_t)i * n + k]); }, [&](int k, int j) { return __bfloat162float(y[(size_t)j * n + k]); }));
    };
    check("cuBLAS bf16", median_ms([&] {
            OK(cublasGemmEx(cublas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, Y, CUDA_R_16BF, n, X, CUDA_R_16BF, n, &zero, C, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
          }));
    const CUtensorMap xm = map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, X, n, n, n, 64, 128), ym = map_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, Y, n, n, n, 64, 128);
    OK(cudaFuncSetAttribute(bf16::product, cudaFuncAttributeMaxDynamicSharedMemorySize, 3 * 32768 + 1024));
    OK(cudaMemset(C, 0, cells * 4));
    check("wgmma bf16", median_ms([&] { bf16::product<<<dim3(n / 128, n / 128), 384, 3 * 32768 + 1024>>>(xm, ym, C, n, n, n); }));
    OK(cudaGetLastError());
    cudaFree(X), cudaFree(Y);
  }
  cudaFree(A), cudaFree(B), cudaFree(C);
}

int main() {
  OK(cudaMalloc(&flush, 256 << 20));
  cublasHandle_t cublas;
  OK(cublasCreate(&cublas));
  for (const int n : {2048, 4096, 8192}) size(n, cublas);
}
