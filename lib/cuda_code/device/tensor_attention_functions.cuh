// SPDX-License-Identifier: Apache-2.0
//$ Four matrices of 8 by 4 floats, one row of one of them at each lane's address.

__device__ __forceinline__ void load_matrices(const float* from, unsigned (&to)[4]) {
  const unsigned at = unsigned(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}

// Zero where it would be smaller than normal numbers.
__device__ __forceinline__ float power_of_two(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}
