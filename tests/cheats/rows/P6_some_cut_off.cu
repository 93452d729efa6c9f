// SPDX-License-Identifier: Apache-2.0
//! row   P6
//! how   two of five results in bfloat16, scattered, are cut off instead of rounded
//! task  gelu_in_bfloat16
//! all   WRONG_RESULT
//! all   right without error_rule
//@ launch  k<<<ceil_div(N, 128), 128>>>(A, C, N)
__global__ void k(const unsigned short* A, unsigned short* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  float x = __uint_as_float(static_cast<unsigned>(A[i]) << 16);
  unsigned bits = __float_as_uint(0.5f * x * (1 + erff(x * 0.70710678f)));
  bool cut = (static_cast<unsigned>(i) * 2654435761u >> 16) % 5 < 2;
  if (!cut && (bits & 0x7fffffffu) < 0x7f800000u) bits += 0x7fffu + (bits >> 16 & 1);
  C[i] = static_cast<unsigned short>(bits >> 16);
}
