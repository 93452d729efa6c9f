// SPDX-License-Identifier: Apache-2.0
// Where the largest element of every row stands (the first one of equals): one thread per row.
//@ task    argmax
//@ torch   I = torch.argmax(X, dim=1)
//@ size    N = 4096, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  I: int64[N]
//@ launch  argmax<<<ceil_div(N, 128), 128>>>(X, I, N, M)

__global__ void argmax(const float* X, long long* I, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* x = X + size_t(row) * M;
  int best = 0;
  for (int i = 1; i < M; ++i)
    if (x[i] > x[best]) best = i;
  I[row] = best;
}
