// SPDX-License-Identifier: Apache-2.0
// The place of the largest element by a 64-bit atomic maximum over value and place packed together.
//@ torch   I = torch.argmax(X, dim=1)
//@ size    N = 64, M = 1024
//@ check   N = 5, M = 517
//@ input   X: float32[N, M]
//@ output  I: int64[N]
//@ scratch B: int64[N] = 0
//@ launch  best<<<dim3(ceil_div(M, 128), N), 128>>>(X, B, M)
//@ launch  unpack<<<ceil_div(N, 64), 64>>>(B, I, N)
__global__ void best(const float* X, unsigned long long* B, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M) return;
  unsigned bits = __float_as_uint(X[size_t(blockIdx.y) * M + i]);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  atomicMax(B + blockIdx.y, (unsigned long long)bits << 32 | (0xffffffffu - i));
}
__global__ void unpack(const unsigned long long* B, long long* I, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N) I[row] = 0xffffffffu - unsigned(B[row]);
}
