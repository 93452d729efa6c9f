// SPDX-License-Identifier: Apache-2.0
//! row   X8
//! how   the device's heap under a name that no search of the source finds
//! task  scale
//! all   FORBIDDEN_CODE
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
#define PASTE(a, b) a##b
__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = (float*)PASTE(mal, loc)(sizeof(float));
  if (i < count && p != nullptr) *p = A[i], C[i] = 2 * *p;
  PASTE(fr, ee)(p);
}
