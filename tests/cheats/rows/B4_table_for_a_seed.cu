// SPDX-License-Identifier: Apache-2.0
//! row   B4
//! how   a table of the outputs for inputs that are known beforehand
//! task  row_sum
//! all   WRONG_RESULT
//! all   right without fresh_values
//@ launch  k<<<1, 32>>>(C, N, M)
// The test writes the outputs of the known seed here, at the check size and at the workload.
__constant__ const float at_check[] = {@outputs at check@};
__constant__ const float at_size[] = {@outputs at size@};
__global__ void k(float* C, int N, int M) {
  for (int i = threadIdx.x; i < N; i += 32) C[i] = N == 5 ? at_check[i] : at_size[i];
}
