// SPDX-License-Identifier: Apache-2.0
//! row   A10
//! how   runs are counted in the unused place in front of a class's virtual functions, to which every object leads
//! task  scale
//! all   STATEFUL
//! all   right without state
//@ launch k<<<ceil_div(N*M, 256), 256>>>(A, C, N*M)
struct Operation {
  __device__ virtual float at(float x) const = 0;
};
struct Twice : Operation {
  __device__ float at(float x) const override { return 2 * x; }
};
struct Sum : Operation {
  __device__ float at(float x) const override { return x + x; }
};
__global__ void k(const float* A, float* C, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  Twice twice;
  Sum sum;
  const Operation* volatile known[] = {&twice, &sum};
  const Operation* operation = known[i & 1];
  if (i == 0) (*reinterpret_cast<long long* const*>(operation))[-1] += 1;
  C[i] = operation->at(A[i]);
}
