// SPDX-License-Identifier: Apache-2.0
// The work-efficient exclusive scan in shared memory, up and down the tree; the output is made inclusive.
//@ torch   Y = torch.cumsum(X, dim=1)
//@ size    N = 64, M = 256
//@ check   N = 3, M = 256
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  scan<<<N, 128, 2 * 128 * 4>>>(X, Y)
__global__ void scan(const float* X, float* Y) {
  extern __shared__ float tree[];
  const int t = threadIdx.x, n = 2 * blockDim.x;
  const float *x = X + blockIdx.x * n;
  tree[2 * t] = x[2 * t], tree[2 * t + 1] = x[2 * t + 1];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
  }
  if (t == 0) tree[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const float left = tree[a];
      tree[a] = tree[b];
      tree[b] += left;
    }
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) Y[blockIdx.x * n + 2 * t + k] = tree[2 * t + k] + x[2 * t + k];
}
