// SPDX-License-Identifier: Apache-2.0
// The positive elements of an array in order, counted by ballots; the rest of the output is zero.
//@ size    N = 4096
//@ check   N = 1000
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ output  C: int32[1]
//@ memset  Y = 0
//@ launch  compact<<<1, 256>>>(X, Y, C, N)
__global__ void compact(const float* X, float* Y, int* C, int N) {
  __shared__ int counts[8], base;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) base = 0;
  for (int start = 0; start < N; start += 256) {
    const int i = start + threadIdx.x;
    const float x = i < N ? X[i] : 0;
    const unsigned chosen = __ballot_sync(~0u, x > 0);
    if (lane == 0) counts[warp] = __popc(chosen);
    __syncthreads();
    int at = base + __popc(chosen & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) at += counts[w];
    if (x > 0) Y[at] = x;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 0; w < 8; ++w) base += counts[w];
    __syncthreads();
  }
  if (threadIdx.x == 0) *C = base;
}
