// SPDX-License-Identifier: Apache-2.0
// A sum of two vectors: elements per thread and block sizes.
//@ size    N = 16777216
//@ check   N = 5000
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  C: float32[N]
//@ tune    WIDTH = 1 | 2 | 4
//@ tune    BLOCK = 32 | 128 | 1024
//@ launch  vector_add<<<ceil_div(N, BLOCK * WIDTH), BLOCK>>>(A, B, C, N)

template <int W> struct Pack { using Type = float; };
template <> struct Pack<2> { using Type = float2; };
template <> struct Pack<4> { using Type = float4; };

__global__ void vector_add(const float* A, const float* B, float* C, int N) {
  using T = Pack<WIDTH>::Type;
  int i = (blockIdx.x * BLOCK + threadIdx.x) * WIDTH;
  if (i + WIDTH > N) return;
  T a = *reinterpret_cast<const T*>(A + i), b = *reinterpret_cast<const T*>(B + i), c;
  float *pa = reinterpret_cast<float*>(&a), *pb = reinterpret_cast<float*>(&b), *pc = reinterpret_cast<float*>(&c);
  for (int k = 0; k < WIDTH; ++k) pc[k] = pa[k] + pb[k];
  *reinterpret_cast<T*>(C + i) = c;
}
