// SPDX-License-Identifier: Apache-2.0
// Loads and stores with cache hints, as hand-tuned kernels spell them, and pairs of floats in packed arithmetic where there is any.
//@ torch   Y = X * 3 + 1
//@ size    N = 4096
//@ check   N = 1024
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  stream<<<ceil_div(N / 4, 128), 128>>>(X, Y, N / 4)
__global__ void stream(const float4* X, float4* Y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 v, w;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(X + i));
#if __CUDA_ARCH__ >= 1000
  const float2 low = __ffma2_rn({v.x, v.y}, {3, 3}, {1, 1}), high = __fadd2_rn(__fmul2_rn({v.z, v.w}, {3, 3}), {1, 1});
  w = {low.x, low.y, high.x, high.y};
#else
  w = {fmaf(v.x, 3, 1), fmaf(v.y, 3, 1), v.z * 3 + 1, v.w * 3 + 1};
#endif
  asm volatile("st.global.L1::no_allocate.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(Y + i), "f"(w.x), "f"(w.y), "f"(w.z), "f"(w.w));
  if (i == 0) __stcs(Y, __ldcg(Y));
}
