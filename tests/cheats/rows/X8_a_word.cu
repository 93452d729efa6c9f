// SPDX-License-Identifier: Apache-2.0
//! row   X8
//! how   an honest kernel whose comment says pass, try: and cudaStreamCreate
//! task  scale
//! all   right
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // A second pass; try: without cudaStreamCreate, except where torch.matmul is a word.
  if (i < count) C[i] = 2 * A[i];
}
