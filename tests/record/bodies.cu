// SPDX-License-Identifier: Apache-2.0
// Structures whose members differ in type, with padding, one of them passed in the middle of its array.
#include <cstdio>

struct Body {
  float3 position;
  int id;
  double mass = 1;
  unsigned char marked;
};

__global__ void advance(Body* bodies, const float* by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body& b = bodies[i];
  b.position.x += by[i] * static_cast<float>(b.mass);
  b.id += b.marked;
}

int main() {
  const int n = 40;
  Body held[n];
  float steps[n];
  for (int i = 0; i < n; ++i) {
    held[i].position = make_float3(i, 2 * i, 3 * i);
    held[i].id = 100 + i;
    held[i].mass = 1 + i / 3.0;
    held[i].marked = i % 2;
    steps[i] = i / 7.0f;
  }
  Body* bodies;
  float* by;
  cudaMalloc(&bodies, sizeof held);
  cudaMalloc(&by, sizeof steps);
  cudaMemcpy(bodies, held, sizeof held, cudaMemcpyHostToDevice);
  cudaMemcpy(by, steps, sizeof steps, cudaMemcpyHostToDevice);
  advance<<<1, 64>>>(bodies + 4, by, n - 4);
  cudaMemcpy(held, bodies, sizeof held, cudaMemcpyDeviceToHost);
  printf("body 5: %g %d\n", held[5].position.x, held[5].id);
  return 0;
}
