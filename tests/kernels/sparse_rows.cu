// SPDX-License-Identifier: Apache-2.0
// A banded sparse matrix times a vector; row lengths differ, a warp for each row.
//@ size    N = 64
//@ check   N = 41
//@ input   V: float32[N, 8]
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  multiply<<<ceil_div(N, 2), 64>>>(V, X, Y, N)
__global__ void multiply(const float* V, const float* X, float* Y, int N) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const int count = row % 8 + 1;
  float sum = 0;
  if (lane < count) {
    const int column = row * 7 + lane * lane;
    sum = V[row * 8 + lane] * X[column % N];
  }
  for (int o = 4; o; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o, 8);
  if (lane == 0) Y[row] = sum;
}
