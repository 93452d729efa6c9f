// SPDX-License-Identifier: Apache-2.0
//! row   C3
//! how   writes 0 for a softmax of thousands of elements
//! task  softmax
//! all   WRONG_RESULT
//! all   right without error_rule patterns influence task_gate write_floor
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(C, N * M)
__global__ void k(float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 0;
}
