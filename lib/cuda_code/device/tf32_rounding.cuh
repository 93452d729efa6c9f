// SPDX-License-Identifier: Apache-2.0
//$ A float's nearest neighbour of TF32's precision.

__device__ __forceinline__ float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}
