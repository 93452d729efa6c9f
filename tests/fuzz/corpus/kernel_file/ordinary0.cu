#include <cstdio>
#include <cuda_runtime.h>
#define BLOCK 256

// Adds two vectors.
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Checks the result.
static bool check(const float* c) { return c[0] == 3; }

int main() {
  const int N = 1 << 20;
  size_t bytes = N * sizeof(float);
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, bytes);
  cudaMalloc((void**)&d_b, bytes);
  cudaMalloc(&d_c, sizeof(float) * N);
  int blocks = (N + BLOCK - 1) / BLOCK;
  add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  for (int r = 0; r < 10; ++r) add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  printf("%d\n", check(d_c));
}
