// SPDX-License-Identifier: Apache-2.0
//$ A float for the tensor cores, which cut what TF32 has no room for: with half of the last place added they round. NaN stays as it is.

__device__ __forceinline__ unsigned tf32_bits(float x) { return __float_as_uint(x) + (x == x ? 0x1000u : 0u); }
