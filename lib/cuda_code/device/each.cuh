// SPDX-License-Identifier: Apache-2.0
//$ needs pack.cuh

// An operation on every element of two packs.
template <typename Combine>
struct Each {
  template <typename T, int VEC>
  __device__ Pack<T, VEC> operator()(Pack<T, VEC> a, const Pack<T, VEC>& b) const {
#pragma unroll
    for (int i = 0; i < VEC; ++i) a.at[i] = Combine()(a.at[i], b.at[i]);
    return a;
  }
};
