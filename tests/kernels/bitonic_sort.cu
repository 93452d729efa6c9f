// SPDX-License-Identifier: Apache-2.0
// Rows of 256 sorted in shared memory by a bitonic network.
//@ torch   Y = torch.sort(X, dim=1)[0]
//@ size    N = 64, M = 256
//@ check   N = 3, M = 256
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  sort_rows<<<N, 128>>>(X, Y)
__global__ void sort_rows(const float* X, float* Y) {
  __shared__ float s[256];
  for (int i = threadIdx.x; i < 256; i += 128) s[i] = X[blockIdx.x * 256 + i];
  for (int size = 2; size <= 256; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), high = low + stride;
      const bool up = (low & size) == 0;
      const float a = s[low], b = s[high];
      if ((a > b) == up) s[low] = b, s[high] = a;
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) Y[blockIdx.x * 256 + i] = s[i];
}
