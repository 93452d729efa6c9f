// SPDX-License-Identifier: Apache-2.0
// Mean and variance in one pass; lanes' moments are merged by shuffles.
//@ torch   V = torch.var(X, dim=1, unbiased=False); A = X.mean(dim=1)
//@ size    N = 64, M = 1000
//@ check   N = 9, M = 201
//@ input   X: float32[N, M]
//@ output  V: float32[N]
//@ output  A: float32[N]
//@ launch  moments<<<ceil_div(N, 4), dim3(32, 4)>>>(X, V, A, N, M)
struct Moments {
  float mean, square;
  int count;
};
__device__ __forceinline__ Moments merge(Moments a, Moments b) {
  const int count = a.count + b.count;
  if (count == 0) return a;
  const float delta = b.mean - a.mean, share = float(b.count) / count;
  return {a.mean + delta * share, a.square + b.square + delta * delta * a.count * share, count};
}
__global__ void moments(const float* X, float* V, float* A, int N, int M) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= N) return;
  Moments m{0, 0, 0};
  for (int i = threadIdx.x; i < M; i += 32) {
    const float x = X[row * M + i], delta = x - m.mean;
    ++m.count;
    m.mean += delta / m.count;
    m.square += delta * (x - m.mean);
  }
  for (int offset = 16; offset; offset /= 2) {
    const Moments other{__shfl_down_sync(~0u, m.mean, offset), __shfl_down_sync(~0u, m.square, offset), __shfl_down_sync(~0u, m.count, offset)};
    m = merge(m, other);
  }
  if (threadIdx.x == 0) V[row] = m.square / M, A[row] = m.mean;
}
