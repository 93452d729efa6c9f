// SPDX-License-Identifier: Apache-2.0
//$ Ootomo & Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
//$ performance" (2022): three TF32 products of the halves, and sums outside the tensor cores, which cut rather than
//$ round.
//$ needs exact.cuh

template <int BYTES>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside) {
  const unsigned at = unsigned(__cvta_generic_to_shared(to));
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0));
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(inside ? 4 : 0));
}

// As high and low halves of TF32 precision. Not for more than 4e34, where the product by 2^13 + 1 (Veltkamp) is infinite.
__device__ __forceinline__ void halves(float value, unsigned& high, unsigned& low) {
  // NaN is left as it is: the sum would carry into its sign.
  const float rounded = EXACT ? fmaf(value, -8192.0f, value * 8193.0f) : value == value ? __uint_as_float(__float_as_uint(value) + 0x1000u) : value;
  high = __float_as_uint(rounded);
  low = __float_as_uint(value - rounded);
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
