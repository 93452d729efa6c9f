// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding with sincosf of large angles.
//@ size    T = 64, D = 32
//@ check   T = 37, D = 16
//@ input   X: float32[T, D]
//@ output  Y: float32[T, D]
//@ launch  rotate<<<T, D / 2>>>(X, Y, D)
__global__ void rotate(const float* X, float* Y, int D) {
  const int i = threadIdx.x, t = blockIdx.x;
  float s, c;
  sincosf(100.0f * t * powf(10000.0f, -2.0f * i / D), &s, &c);
  const float2 v = reinterpret_cast<const float2*>(X)[t * D / 2 + i];
  reinterpret_cast<float2*>(Y)[t * D / 2 + i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
