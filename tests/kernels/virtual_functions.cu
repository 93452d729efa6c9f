// SPDX-License-Identifier: Apache-2.0
// Operations behind a base class: neighbouring threads call different functions by their addresses.
//@ torch   Y = where(K == 0, X * 2, where(K == 1, X + 3, relu(X)))
//@ size    N = 1000
//@ check   N = 130
//@ input   X: float32[N]
//@ input   K: int32[N] ~ randint(0, 3)
//@ output  Y: float32[N]
//@ launch  apply<<<ceil_div(N, 128), 128>>>(X, K, Y, N)
struct Operation {
  __device__ virtual float at(float x) const = 0;
};
struct Times : Operation {
  float factor;
  __device__ explicit Times(float f) : factor(f) {}
  __device__ float at(float x) const override { return factor * x; }
};
struct Plus : Operation {
  float addend;
  __device__ explicit Plus(float a) : addend(a) {}
  __device__ float at(float x) const override { return addend + x; }
};
struct Relu : Operation {
  __device__ float at(float x) const override { return x < 0 ? 0 : x; }
};

__global__ void apply(const float* X, const int* K, float* Y, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  Times times(2);
  Plus plus(3);
  Relu relu;
  const Operation* operations[] = {&times, &plus, &relu};
  Y[i] = operations[K[i]]->at(X[i]);
}
