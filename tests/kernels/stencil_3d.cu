// SPDX-License-Identifier: Apache-2.0
// A seven-point stencil marching through z with a plane in shared memory and neighbours in registers.
//@ size    N = 20
//@ check   N = 17
//@ input   X: float32[N, N, N]
//@ output  Y: float32[N, N, N]
//@ launch  stencil<<<dim3(ceil_div(N, 16), ceil_div(N, 8)), dim3(16, 8)>>>(X, Y, N)
__global__ void stencil(const float* X, float* Y, int N) {
  __shared__ float plane[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const auto at = [&](int i, int j, int k) { return i >= 0 && j >= 0 && k >= 0 && i < N && j < N && k < N ? X[(k * N + j) * N + i] : 0.0f; };
  float below = 0, here = at(x, y, 0);
  for (int z = 0; z < N; ++z) {
    const float above = at(x, y, z + 1);
    plane[ty][tx] = here;
    if (tx == 1) plane[ty][0] = at(x - 1, y, z);
    if (tx == 16) plane[ty][17] = at(x + 1, y, z);
    if (ty == 1) plane[0][tx] = at(x, y - 1, z);
    if (ty == 8) plane[9][tx] = at(x, y + 1, z);
    __syncthreads();
    if (x < N && y < N) Y[(z * N + y) * N + x] = 6 * here - below - above - plane[ty][tx - 1] - plane[ty][tx + 1] - plane[ty - 1][tx] - plane[ty + 1][tx];
    __syncthreads();
    below = here, here = above;
  }
}
