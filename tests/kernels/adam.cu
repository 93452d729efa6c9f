// SPDX-License-Identifier: Apache-2.0
// One step of Adam on three tensors in place.
//@ size    N = 4096
//@ check   N = 777
//@ scalar  rate: float32 = 0.01
//@ input   G: float32[N]
//@ inout   P: float32[N]
//@ inout   M: float32[N]
//@ inout   V: float32[N] ~ uniform(0, 1)
//@ launch  step<<<ceil_div(N, 128), 128>>>(G, P, M, V, rate, N)
__global__ void step(const float* G, float* P, float* M, float* V, float rate, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float g = G[i], m = 0.9f * M[i] + 0.1f * g, v = 0.999f * fabsf(V[i]) + 0.001f * g * g;
  M[i] = m, V[i] = v;
  P[i] -= rate * m / (sqrtf(v) + 1e-8f);
}
