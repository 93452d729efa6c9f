// SPDX-License-Identifier: Apache-2.0
// What compute-sanitizer would find: the last thread reads past the end, and neighbours race in shared memory.
#include <cstdio>

__global__ void shift(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1];
}

__global__ void race(float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = values[63 - threadIdx.x];
}

int main(int argc, char**) {
  float *in, *out;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  cudaMemset(in, 0, 256);
  race<<<1, 64>>>(out);
  if (argc > 1) shift<<<1, 64>>>(in, out, 64);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
